"""The Kinesis client of the generator, with boto3."""

from __future__ import annotations

from collections.abc import Sequence
from typing import TYPE_CHECKING, Any
from urllib.parse import urlsplit

from spark_kinesis._boto import boto3
from spark_kinesis._errors import GeneratorError

from .writer import RequestFailedError, Send

if TYPE_CHECKING:
    from mypy_boto3_kinesis import KinesisClient

_LOOPBACK = ("127.0.0.1", "localhost", "::1")
_TRANSIENT = (
    "ProvisionedThroughputExceededException",
    "LimitExceededException",
    "KMSThrottlingException",
    "ThrottlingException",
    "InternalFailure",
    "InternalFailureException",
    "ServiceUnavailable",
)
_SERVER_ERROR = 500


def connect(endpoint: str | None, region: str | None, profile: str | None) -> KinesisClient:
    """A client that makes no retries.

    For a local endpoint without a profile, the keys are placeholders, the default region is
    us-east-1, and proxies are ignored. Otherwise region and credentials come from the default chain
    of the AWS SDK.

    Raises:
        MissingPackageError: if boto3 is not installed.
        GeneratorError: if region or profile is missing or unknown.
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
        client: KinesisClient = session.client("kinesis", endpoint_url=endpoint, config=config)
    except (BotoCoreError, ValueError) as error:
        raise GeneratorError(f"cannot connect to Kinesis: {error}") from error
    return client


def sender(client: Any, stream: str) -> Send:
    """A function that sends one request.

    It raises ``RequestFailedError`` if the request may succeed later, otherwise ``GeneratorError``.
    """
    from botocore.exceptions import BotoCoreError, ClientError, HTTPClientError  # noqa: PLC0415

    def send(request: list[dict[str, Any]]) -> Sequence[str | None]:
        try:
            answer = client.put_records(StreamName=stream, Records=request)
        except ClientError as error:
            if _is_transient(error.response):
                raise RequestFailedError(str(error)) from error
            raise GeneratorError(f"stream {stream}: {error}") from error
        except HTTPClientError as error:
            raise RequestFailedError(str(error)) from error
        except BotoCoreError as error:
            raise GeneratorError(f"stream {stream}: {error}") from error
        records = answer.get("Records", [])
        if len(records) != len(request):  # boto3 accepts an answer that was cut
            raise RequestFailedError(f"{len(records)} answers to {len(request)} records")
        return [record.get("ErrorCode") for record in records]

    return send


def _is_transient(response: Any) -> bool:
    status = int(response.get("ResponseMetadata", {}).get("HTTPStatusCode", 0))
    return status >= _SERVER_ERROR or response["Error"]["Code"] in _TRANSIENT
