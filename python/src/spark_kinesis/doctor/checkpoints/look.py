"""Asks Kinesis about the streams of a checkpoint. The calls change nothing."""

from __future__ import annotations

from datetime import datetime, timezone
from typing import TYPE_CHECKING

from spark_kinesis.doctor.aws import text_of
from spark_kinesis.stream import describe, list_shards, probe

from .facts import ShardFact, StreamFacts

if TYPE_CHECKING:
    from collections.abc import Callable

    from mypy_boto3_kinesis import KinesisClient

    from spark_kinesis.checkpoint import ShardOffset, StreamOffset

MOST_PROBES = 100
_FIRST = datetime.min.replace(tzinfo=timezone.utc)


def look_at(
    client: KinesisClient, arn: str, offset: StreamOffset, on_shard: Callable[[str], None]
) -> StreamFacts:
    """Ask about a stream of a checkpoint.

    It reads one record of each shard, at most of the hundred that were read the longest ago. Each
    read is one of the five per second of its shard.

    Args:
        client: client of Kinesis in the region of the stream.
        arn: ARN of the stream.
        offset: how far the query has read it.
        on_shard: called before each read.

    Raises:
        botocore.exceptions.ClientError: if the stream cannot be described or listed.
        botocore.exceptions.BotoCoreError: if Kinesis cannot be called.
    """
    summary, listed = describe(client, arn), list_shards(client, arn)
    ids = {it.id for it in listed}
    oldest_first = sorted(offset.shards, key=lambda it: (_age_of(offset.shards[it]), it))
    to_probe = {it for it in oldest_first if it in ids and not offset.shards[it].waits_for}
    probed = set([it for it in oldest_first if it in to_probe][:MOST_PROBES])
    shards = []
    for name in offset.shards:
        if name in probed:
            on_shard(name)
            shards.append(_probed(client, arn, name, offset.shards[name]))
        else:
            fact = ShardFact(id=name, offset=offset.shards[name], is_listed=name in ids)
            shards.append(fact)
    return StreamFacts(summary=summary, offset=offset, shards=shards, listed=listed)


def _age_of(offset: ShardOffset) -> datetime:
    return offset.complete_as_of or _FIRST


def _probed(client: KinesisClient, arn: str, name: str, offset: ShardOffset) -> ShardFact:
    from botocore.exceptions import BotoCoreError, ClientError  # noqa: PLC0415 optional

    try:
        found = probe(client, arn, name, offset)
    except (BotoCoreError, ClientError) as error:
        return ShardFact(id=name, offset=offset, is_listed=True, refusal=text_of(error))
    return ShardFact(id=name, offset=offset, is_listed=True, probe=found)
