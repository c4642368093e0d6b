"""The keys of an AWS profile for a checkpoint in S3."""

from __future__ import annotations

from spark_kinesis._boto import session

from .files import StoreKeys, is_s3


def keys_for(user: str, location: str, region: str | None, profile: str | None) -> StoreKeys | None:
    """The keys of a profile, if a checkpoint needs them.

    Args:
        user: name of the feature that needs boto3, for the error message.
        location: path or URL of the checkpoint.
        region: AWS region.
        profile: profile of the AWS configuration files.

    Returns:
        ``None`` without a profile, without its credentials, and for a checkpoint outside S3.

    Raises:
        MissingPackageError: if boto3 is not installed.
        SparkKinesisError: if the profile is unknown.
        botocore.exceptions.BotoCoreError: if its credentials cannot be loaded.
    """
    if profile is None or not is_s3(location):
        return None
    found = session(user, None, region, profile).get_credentials()
    if found is None:
        return None
    frozen = found.get_frozen_credentials()
    return StoreKeys(frozen.access_key, frozen.secret_key, frozen.token)
