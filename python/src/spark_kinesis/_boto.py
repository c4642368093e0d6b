"""boto3, which is optional."""

from __future__ import annotations

from types import ModuleType

from ._errors import MissingPackage


def boto3(user: str) -> ModuleType:
    """The package.

    Args:
        user: who needs it, for the message.

    Raises:
        MissingPackage: when it is not installed.
    """
    try:
        import boto3 as package  # noqa: PLC0415 optional, and slow to load
    except ImportError as error:
        raise MissingPackage(f"{user} needs boto3: pip install boto3") from error
    found: ModuleType = package
    return found
