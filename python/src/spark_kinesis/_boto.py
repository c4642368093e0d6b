"""boto3, which is an optional package."""

from __future__ import annotations

from types import ModuleType

from ._errors import MissingPackageError


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
