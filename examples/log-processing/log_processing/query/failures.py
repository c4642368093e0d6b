"""What went wrong with a request to DynamoDB, and what to do."""

from __future__ import annotations

from typing import Union

from botocore.exceptions import BotoCoreError, ClientError

from log_processing.delivery.aws_errors import is_denied, is_throttled, missing_setting

AwsError = Union[BotoCoreError, ClientError]


def explain(error: AwsError, *, table: str) -> str:
    """One or two sentences for the user."""
    if not isinstance(error, ClientError):
        missing = missing_setting(error)
        return missing or f"DynamoDB did not answer for table '{table}'. {error}"
    code, text = error.response["Error"]["Code"], error.response["Error"].get("Message", "")
    if code == "ResourceNotFoundException":
        advice = "Check the name, the region and the account of the credentials."
        return f"Table '{table}' does not exist. {advice}"
    if is_denied(error):
        return f"The credentials may not read table '{table}'. Allow dynamodb:Query. {text}"
    if is_throttled(error):
        return (
            f"DynamoDB throttled the reads of table '{table}' in every attempt. Wait and run the "
            "command again, read a shorter span, or raise the read capacity of the table."
        )
    return f"Table '{table}' cannot be read: {code}. {text}"
