"""boto3, which is an optional package."""

from __future__ import annotations

import os
from collections.abc import Mapping
from typing import TYPE_CHECKING, Any
from urllib.parse import urlsplit

from ._errors import MissingPackageError, SparkKinesisError

if TYPE_CHECKING:
    from types import ModuleType

    from mypy_boto3_kinesis import KinesisClient

LOCAL_REGION = "us-east-1"
TRANSIENT = (
    "ProvisionedThroughputExceededException",
    "LimitExceededException",
    "ThrottlingException",
    "Throttling",
    "KMSThrottlingException",
    "InternalFailure",
    "InternalFailureException",
    "ServiceUnavailable",
    "ServiceUnavailableException",
)
"""The services' names of errors that may pass."""
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
    """A client of Kinesis. ``client`` says what the arguments are."""
    found: KinesisClient = client(user, "kinesis", endpoint, region, profile, attempts=attempts)
    return found


def client(
    user: str,
    service: str,
    endpoint: str | None,
    region: str | None,
    profile: str | None,
    *,
    attempts: int,
    timeout: float | None = None,
    keys: Mapping[str, str] | None = None,
) -> Any:
    """A client of a service, of the session that ``session`` describes.

    Args:
        user: name of the feature that needs boto3, for the error message.
        service: name of the service in boto3, such as ``kinesis``.
        endpoint: URL; default: that of AWS.
        region: AWS region.
        profile: profile of the AWS configuration files.
        attempts: how often it makes a call that fails for a while.
        timeout: how long it waits for a connection, and for an answer, in seconds; default: as
            long as botocore.
        keys: arguments of boto3's session with credentials; default: none.

    Raises:
        MissingPackageError: if boto3 is not installed.
        SparkKinesisError: if region or profile is missing or unknown.
    """
    found = session(user, endpoint, region, profile, keys)
    from botocore.config import Config  # noqa: PLC0415 comes with boto3
    from botocore.exceptions import BotoCoreError  # noqa: PLC0415

    config = Config(
        retries={"total_max_attempts": attempts}, proxies={} if is_local(endpoint) else None
    )
    if timeout is not None:
        config = config.merge(Config(connect_timeout=timeout, read_timeout=timeout))
    try:
        return found.client(service, endpoint_url=endpoint, config=config)
    except (BotoCoreError, ValueError) as error:
        raise SparkKinesisError(f"cannot connect to {service.capitalize()}: {error}") from error


def session(
    user: str,
    endpoint: str | None,
    region: str | None,
    profile: str | None,
    keys: Mapping[str, str] | None = None,
) -> Any:
    """A session of boto3.

    For a local endpoint without a profile, the keys are placeholders, the default region is
    us-east-1, and proxies are ignored. Otherwise region and credentials come from the default chain
    of the AWS SDK. ``AWS_REGION`` is part of it, as in the connector.

    Args:
        user: name of the feature that needs boto3, for the error message.
        endpoint: URL; default: that of AWS.
        region: AWS region.
        profile: profile of the AWS configuration files.
        keys: arguments of boto3's session with credentials; default: none.

    Raises:
        MissingPackageError: if boto3 is not installed.
        SparkKinesisError: if the profile is unknown.
    """
    package = boto3(user)
    from botocore.exceptions import BotoCoreError  # noqa: PLC0415 comes with boto3

    given = dict(keys or {})
    if is_local(endpoint) and profile is None and not given:
        region = region or LOCAL_REGION
        given = {"aws_access_key_id": "local", "aws_secret_access_key": "local"}
    # boto3 itself reads AWS_DEFAULT_REGION, and the AWS SDK for Java does not.
    region = region or os.environ.get("AWS_REGION")
    try:
        return package.Session(profile_name=profile, region_name=region, **given)
    except (BotoCoreError, ValueError) as error:
        raise SparkKinesisError(f"cannot connect to AWS: {error}") from error


def is_local(endpoint: str | None) -> bool:
    """Whether an endpoint is on this machine."""
    return endpoint is not None and urlsplit(endpoint).hostname in _LOOPBACK


def is_from_aws(error: Exception) -> bool:
    """Whether boto3 raised an error. It may not be installed."""
    return type(error).__module__.startswith("botocore.")
