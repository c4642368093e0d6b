"""May the KMS key of a stream be used?"""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

from spark_kinesis.doctor.aws import text_of
from spark_kinesis.doctor.finding import Finding, ok, problem, unknown

SECTION = "stream"
_SUBJECT = "key"
_OF_AWS = "alias/aws/kinesis"


@dataclass(frozen=True, kw_only=True)
class KeyFacts:
    """The key of a stream.

    Attributes:
        id: ID, alias or ARN, as the stream names it.
        arn: ARN. ``None`` if AWS KMS did not describe the key.
        state: state, such as ``Enabled``. ``None`` if AWS KMS did not describe the key.
        is_of_aws: whether AWS manages it, so that it needs no permission.
        refusal: why AWS KMS did not describe it, or ``None``.
    """

    id: str
    arn: str | None = None
    state: str | None = None
    is_of_aws: bool = False
    refusal: str | None = None


def find_key(kms: Any, key: str) -> KeyFacts:
    """Ask AWS KMS about a key.

    Args:
        kms: client of AWS KMS. ``None`` without one: Kinesis is not that of AWS.
        key: ID, alias or ARN.
    """
    is_of_aws = key.endswith(_OF_AWS)
    if kms is None:
        return KeyFacts(id=key, is_of_aws=is_of_aws)
    from botocore.exceptions import BotoCoreError, ClientError  # noqa: PLC0415 optional

    try:
        found = kms.describe_key(KeyId=key)["KeyMetadata"]
    except (BotoCoreError, ClientError) as error:
        return KeyFacts(id=key, is_of_aws=is_of_aws, refusal=text_of(error))
    return KeyFacts(
        id=key,
        arn=found["Arn"],
        state=found["KeyState"],
        is_of_aws=is_of_aws or found.get("KeyManager") == "AWS",
    )


def key_finding(facts: KeyFacts) -> Finding:
    """Is the key in a state in which Kinesis can use it?"""
    if facts.state == "Enabled":
        return ok(SECTION, _SUBJECT, f"key {facts.id} is enabled")
    if facts.state is not None:
        return problem(
            SECTION,
            _SUBJECT,
            f"key {facts.id} of the stream is {facts.state}, so reads and writes fail",
            "Make it usable in AWS KMS, or encrypt the stream with another key. Records that were "
            "encrypted with a deleted key are lost.",
        )
    if facts.is_of_aws:
        return ok(SECTION, _SUBJECT, f"AWS manages {facts.id}. It needs no permission")
    seen = f"the state of key {facts.id} is unknown"
    if facts.refusal is None:
        return unknown(SECTION, _SUBJECT, seen)
    remedy = "To see it, allow kms:DescribeKey. The connector does not need it."
    return unknown(SECTION, _SUBJECT, f"{seen}: {facts.refusal}", remedy)
