"""Harmless calls that prove a permission. They change nothing, and read one record."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

from spark_kinesis.doctor.aws import code_of, is_denied, text_of

if TYPE_CHECKING:
    from collections.abc import Callable

    from mypy_boto3_kinesis import KinesisClient

    from spark_kinesis.doctor.streams import Seen

_FIRST_SHARD = "shardId-000000000000"
# AWS checks the permission first: who learns that a thing does not exist was allowed to ask.
_ALLOWED = "ResourceNotFoundException"
_KMS = "KMS"


@dataclass(frozen=True, kw_only=True)
class Outcome:
    """What a call proved.

    Attributes:
        is_allowed: ``None`` if the call failed for another reason than a permission.
        text: how it was proved, or the error.
        code: the service's name of the error. Empty without one.
    """

    is_allowed: bool | None
    text: str
    code: str = ""


_PROVED = Outcome(is_allowed=True, text="allowed, as a call proved")


def call_harmlessly(client: KinesisClient, seen: Seen, consumer: str | None) -> dict[str, Outcome]:
    """The outcomes by action.

    Args:
        client: client of Kinesis.
        seen: the stream.
        consumer: name or ARN of the consumer of the query, or ``None``.
    """
    arn = seen.summary.arn
    found = {
        "kinesis:DescribeStreamSummary": _PROVED,
        "kinesis:ListShards": _failed(seen.shards)
        if isinstance(seen.shards, Exception)
        else _PROVED,
        **_reading(client, arn, _shard_of(seen)),
    }
    if consumer is not None:
        outcome, _ = _attempt(lambda: client.describe_stream_consumer(**_named(arn, consumer)))
        found["kinesis:DescribeStreamConsumer"] = outcome
    return found


def _shard_of(seen: Seen) -> str:
    shards = () if isinstance(seen.shards, Exception) else seen.shards
    return next((it.id for it in shards if it.is_open), _FIRST_SHARD)


def _reading(client: KinesisClient, arn: str, shard: str) -> dict[str, Outcome]:
    found, answer = _attempt(
        lambda: client.get_shard_iterator(
            StreamARN=arn, ShardId=shard, ShardIteratorType="TRIM_HORIZON"
        )
    )
    outcomes = {"kinesis:GetShardIterator": found}
    if answer is None:
        return outcomes
    iterator = answer["ShardIterator"]
    got, answer = _attempt(
        lambda: client.get_records(ShardIterator=iterator, Limit=1, StreamARN=arn)
    )
    if got.code.startswith(_KMS):
        outcomes["kms:Decrypt"] = got
        got = _PROVED
    elif answer is not None and any(it.get("EncryptionType") == _KMS for it in answer["Records"]):
        outcomes["kms:Decrypt"] = _PROVED
    return {**outcomes, "kinesis:GetRecords": got}


def _attempt(call: Callable[[], Any]) -> tuple[Outcome, Any]:
    from botocore.exceptions import BotoCoreError, ClientError  # noqa: PLC0415 optional

    try:
        return _PROVED, call()
    except (BotoCoreError, ClientError) as error:
        return _failed(error), None


def _failed(error: Exception) -> Outcome:
    code = code_of(error)
    if code == _ALLOWED:
        return _PROVED
    is_refused = is_denied(error) or (code.startswith(_KMS) and "Throttling" not in code)
    return Outcome(is_allowed=False if is_refused else None, text=text_of(error), code=code)


def _named(arn: str, consumer: str) -> Any:
    if consumer.startswith("arn:"):
        return {"ConsumerARN": consumer}
    return {"StreamARN": arn, "ConsumerName": consumer}
