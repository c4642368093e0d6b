"""boto3, which is optional."""

from __future__ import annotations

from types import ModuleType
from typing import Any

from ._errors import MissingPackageError
from ._wire import REGION


def boto3(user: str) -> ModuleType:
    """The package.

    Args:
        user: who needs it, for the message.

    Raises:
        MissingPackageError: when it is not installed.
    """
    try:
        import boto3 as package  # noqa: PLC0415 optional, and slow to load
    except ImportError as error:
        raise MissingPackageError(f"{user} needs boto3: pip install boto3") from error
    found: ModuleType = package
    return found


def local_client(user: str, endpoint: str) -> Any:
    """A client of a local Kinesis, whatever proxy this machine has for others.

    Args:
        user: who needs it, for the message.
        endpoint: such as ``http://127.0.0.1:4567``.

    Raises:
        MissingPackageError: when boto3 is not installed.
    """
    package = boto3(user)
    from botocore.config import Config  # noqa: PLC0415 comes with boto3

    return package.client(
        "kinesis",
        endpoint_url=endpoint,
        region_name=REGION,
        aws_access_key_id="local",
        aws_secret_access_key="local",  # noqa: S106 a local Kinesis takes any
        config=Config(proxies={}),
    )
