"""Reads one shard as often as its quota allows in a second, and counts the refusals."""

from __future__ import annotations

from concurrent.futures import ThreadPoolExecutor
from dataclasses import dataclass
from typing import TYPE_CHECKING

from spark_kinesis.doctor.aws import code_of
from spark_kinesis.tools.facts.records import READ_CALLS, THROTTLED

if TYPE_CHECKING:
    from mypy_boto3_kinesis import KinesisClient


@dataclass(frozen=True, kw_only=True)
class Burst:
    """What five reads at once found.

    Attributes:
        shard: ID of the shard.
        refused: reads that were refused because of the quota.
        failure: the first other error, or ``None``.
    """

    shard: str
    refused: int
    failure: Exception | None = None


def read_five_times(client: KinesisClient, arn: str, shard: str) -> Burst:
    """Read the tip of a shard five times at once.

    Args:
        client: client of Kinesis that repeats no call.
        arn: ARN of the stream.
        shard: ID of an open shard.

    Raises:
        botocore.exceptions.ClientError: if there is no iterator.
    """
    from botocore.exceptions import BotoCoreError, ClientError  # noqa: PLC0415 optional

    tip = client.get_shard_iterator(StreamARN=arn, ShardId=shard, ShardIteratorType="LATEST")

    def read() -> Exception | None:
        try:
            client.get_records(ShardIterator=tip["ShardIterator"], Limit=1, StreamARN=arn)
        except (BotoCoreError, ClientError) as error:
            return error
        return None

    with ThreadPoolExecutor(READ_CALLS) as threads:
        errors = [it for it in threads.map(lambda _: read(), range(READ_CALLS)) if it is not None]
    others = [it for it in errors if code_of(it) != THROTTLED]
    return Burst(
        shard=shard,
        refused=len(errors) - len(others),
        failure=others[0] if others else None,
    )
