"""Whether a stream still has the record that a position names, and which record follows."""

from __future__ import annotations

import time
from collections.abc import Callable
from dataclasses import dataclass, replace
from enum import Enum
from typing import TYPE_CHECKING

from spark_kinesis.checkpoint import Progress, ShardOffset

from .records import FirstRecords, StreamRecord, first_records

if TYPE_CHECKING:
    from mypy_boto3_kinesis import KinesisClient

    from .shards import StreamShard


class Anchor(Enum):
    """Whether the record that a position names is there."""

    NONE = "none"
    """The position names no record: it is a time, or the beginning or end of the shard."""

    THERE = "there"
    """It is there, and so are all later records."""

    GONE = "gone"
    """It is gone. Records after it may have expired, too."""

    UNKNOWN = "unknown"
    """The search ended before it found a record."""


@dataclass(frozen=True, kw_only=True)
class Surroundings:
    """The records around a position.

    Attributes:
        anchor: whether the record that the position names is there.
        named: this record, if it is there.
        unread: the first record that is read from the position on.
    """

    anchor: Anchor
    named: StreamRecord | None
    unread: FirstRecords


def anchor(shard: StreamShard, offset: ShardOffset, found: FirstRecords) -> Anchor:
    """Whether the record that a position names is there.

    The first number of a shard need not belong to a record. Without such a record, a position there
    is the beginning of the shard, and shows no loss.

    Args:
        shard: the shard.
        offset: the position.
        found: the first records from the one that it names on.
    """
    number = offset.sequence_number
    if number is None or _is_end(shard, offset):
        return Anchor.NONE
    if found.records and found.records[0].sequence_number == number:
        return Anchor.THERE
    if number == shard.starting:
        return Anchor.NONE
    return Anchor.GONE if found.records or found.is_complete else Anchor.UNKNOWN


def surroundings(
    client: KinesisClient,
    arn: str,
    shard: StreamShard,
    offset: ShardOffset,
    *,
    sleep: Callable[[float], None] = time.sleep,
) -> Surroundings:
    """Read the records around a position.

    Args:
        client: client of Kinesis.
        arn: ARN of the stream.
        shard: the shard, which is not finished.
        offset: the position.
        sleep: waits a number of seconds between two reads.

    Raises:
        botocore.exceptions.ClientError: if a call fails.
    """
    is_after = offset.progress is Progress.AFTER and not _is_end(shard, offset)
    begin = replace(offset, progress=Progress.FROM) if is_after else offset
    count = 2 if is_after else 1
    found = first_records(client, arn, shard.id, begin, count=count, sleep=sleep)
    state = anchor(shard, offset, found)
    is_there = state is Anchor.THERE
    rest = found.records[1:] if is_there and is_after else found.records[:1]
    return Surroundings(
        anchor=state,
        named=found.records[0] if is_there else None,
        unread=replace(found, records=rest),
    )


def _is_end(shard: StreamShard, offset: ShardOffset) -> bool:
    return offset.progress is Progress.AFTER and offset.sequence_number == shard.ending
