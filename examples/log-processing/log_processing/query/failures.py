"""What went wrong with a request to DynamoDB, and what to do."""

from __future__ import annotations

from typing import Union

from botocore.exceptions import BotoCoreError, ClientError

AwsError = Union[BotoCoreError, ClientError]
THROTTLED = (
    "ProvisionedThroughputExceededException",
    "RequestLimitExceeded",
    "ThrottlingException",
)


def explain(error: AwsError, *, table: str) -> str:
    """One or two sentences for the user."""
    if not isinstance(error, ClientError):
        return f"DynamoDB did not answer for table '{table}'. {error}"
    code, text = error.response["Error"]["Code"], error.response["Error"].get("Message", "")
    if code == "ResourceNotFoundException":
        advice = "Check the name, the region and the account of the credentials."
        return f"Table '{table}' does not exist. {advice}"
    if code == "AccessDeniedException":
        return f"The credentials may not read table '{table}'. Allow dynamodb:Query. {text}"
    if code in THROTTLED:
        return (
            f"DynamoDB throttled the reads of table '{table}' in every attempt. Wait and run the "
            "command again, read a shorter span, or raise the read capacity of the table."
        )
    return f"Table '{table}' cannot be read: {code}. {text}"
