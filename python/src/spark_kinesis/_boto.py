"""boto3, which is an optional package."""

from __future__ import annotations

from types import ModuleType
from typing import TYPE_CHECKING
from urllib.parse import urlsplit

from ._errors import MissingPackageError, SparkKinesisError

if TYPE_CHECKING:
    from mypy_boto3_kinesis import KinesisClient

_LOOPBACK = ("127.0.0.1", "localhost", "::1")


def boto3(user: str) -> ModuleType:
    """Import boto3.

    Args:
        user: name of the feature that needs boto3, for the error message.

    Raises:
        MissingPackageError: if boto3 is not installed.
    """
    try:
        import boto3 as package  # noqa: PLC0415 optional, and slow to load
    except ImportError as error:
        raise MissingPackageError(f"{user} needs boto3: pip install boto3") from error
    found: ModuleType = package
    return found


def kinesis_client(
    user: str, endpoint: str | None, region: str | None, profile: str | None, *, attempts: int
) -> KinesisClient:
    """A client of Kinesis.

    For a local endpoint without a profile, the keys are placeholders, the default region is
    us-east-1, and proxies are ignored. Otherwise region and credentials come from the default chain
    of the AWS SDK.

    Args:
        user: name of the feature that needs boto3, for the error message.
        endpoint: URL; default: that of AWS.
        region: AWS region.
        profile: profile of the AWS configuration files.
        attempts: how often it makes a call that fails for a while.

    Raises:
        MissingPackageError: if boto3 is not installed.
        SparkKinesisError: if region or profile is missing or unknown.
    """
    package = boto3(user)
    from botocore.config import Config  # noqa: PLC0415 comes with boto3
    from botocore.exceptions import BotoCoreError  # noqa: PLC0415

    keys: dict[str, str] = {}
    is_local = endpoint is not None and urlsplit(endpoint).hostname in _LOOPBACK
    config = Config(retries={"total_max_attempts": attempts}, proxies={} if is_local else None)
    if is_local and profile is None:
        region = region or "us-east-1"
        keys = {"aws_access_key_id": "local", "aws_secret_access_key": "local"}
    try:
        session = package.Session(profile_name=profile, region_name=region, **keys)
        client: KinesisClient = session.client("kinesis", endpoint_url=endpoint, config=config)
    except (BotoCoreError, ValueError) as error:
        raise SparkKinesisError(f"cannot connect to Kinesis: {error}") from error
    return client
