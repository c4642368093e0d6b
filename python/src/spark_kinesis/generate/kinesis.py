"""The stream that is written to, by boto3."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any
from urllib.parse import urlsplit

from spark_kinesis._boto import boto3
from spark_kinesis._errors import GeneratorError

from .writer import Send, Unanswered

_LOOPBACK = ("127.0.0.1", "localhost", "::1")
_PASSING = (
    "ProvisionedThroughputExceededException",
    "LimitExceededException",
    "KMSThrottlingException",
    "ThrottlingException",
    "InternalFailure",
    "InternalFailureException",
    "ServiceUnavailable",
)
_SERVER_ERROR = 500


def connect(endpoint: str | None, region: str | None, profile: str | None) -> Any:
    """A client that does not retry by itself.

    A local endpoint without a profile gets made-up keys and, unless told, us-east-1; otherwise
    region and credentials come from the AWS SDK's usual chain. A proxy is for others only.

    Raises:
        MissingPackageError: when boto3 is not installed.
        GeneratorError: when region or profile is missing or unknown.
    """
    package = boto3("python -m spark_kinesis.generate")
    from botocore.config import Config  # noqa: PLC0415 comes with boto3
    from botocore.exceptions import BotoCoreError  # noqa: PLC0415

    keys: dict[str, str] = {}
    is_local = endpoint is not None and urlsplit(endpoint).hostname in _LOOPBACK
    config = Config(retries={"total_max_attempts": 1}, proxies={} if is_local else None)
    if is_local and profile is None:
        region = region or "us-east-1"
        keys = {"aws_access_key_id": "local", "aws_secret_access_key": "local"}
    try:
        session = package.Session(profile_name=profile, region_name=region, **keys)
        return session.client("kinesis", endpoint_url=endpoint, config=config)
    except (BotoCoreError, ValueError) as error:
        raise GeneratorError(f"no client for Kinesis: {error}") from error


def sender(client: Any, stream: str) -> Send:
    """How one request is sent.

    The result raises ``Unanswered`` where sending again may help, ``GeneratorError`` where not.
    """
    from botocore.exceptions import BotoCoreError, ClientError, HTTPClientError  # noqa: PLC0415

    def send(request: list[dict[str, Any]]) -> Sequence[str | None]:
        try:
            answer = client.put_records(StreamName=stream, Records=request)
        except ClientError as error:
            if _is_passing(error.response):
                raise Unanswered(str(error)) from error
            raise GeneratorError(f"stream {stream}: {error}") from error
        except HTTPClientError as error:
            raise Unanswered(str(error)) from error
        except BotoCoreError as error:
            raise GeneratorError(f"stream {stream}: {error}") from error
        records = answer.get("Records", [])
        if len(records) != len(request):  # boto3 makes the best of an answer that was cut
            raise Unanswered(f"{len(records)} answers to {len(request)} records")
        return [record.get("ErrorCode") for record in records]

    return send


def _is_passing(response: Any) -> bool:
    status = int(response.get("ResponseMetadata", {}).get("HTTPStatusCode", 0))
    return status >= _SERVER_ERROR or response["Error"]["Code"] in _PASSING
