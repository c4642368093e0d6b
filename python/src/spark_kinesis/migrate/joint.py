"""Reads the records around a joint: the last one that another consumer read, and the next one."""

from __future__ import annotations

from dataclasses import dataclass, replace
from enum import Enum
from typing import TYPE_CHECKING

from spark_kinesis.checkpoint import Progress, ShardOffset
from spark_kinesis.stream import FirstRecords, StreamRecord, first_records
from spark_kinesis.stream.aggregate import parse
from spark_kinesis.stream.anchor import Anchor, anchor

from .stops import StopKind

if TYPE_CHECKING:
    from mypy_boto3_kinesis import KinesisClient

    from .plan import ShardStart


class Verdict(Enum):
    """Whether records are missing where the query begins."""

    CONTINUES = "continues"
    """The last record of the other consumer is there, and the query begins right after it."""

    REPEATS = "repeats"
    """The other consumer stopped in an aggregate. The query begins with the whole aggregate."""

    BEGINS = "begins"
    """The other consumer has read nothing of the shard that the stream still holds."""

    SKIPS = "skips"
    """The other consumer was to begin with new records. The query begins with those from now on.

    Older records are there, or may be.
    """

    LOST = "lost"
    """The record or the time of the position is gone. Unread records may have expired, too."""

    UNPROVEN = "unproven"
    """The search ended before it found a record."""


@dataclass(frozen=True, kw_only=True)
class Joint:
    """What is around the position where a query begins in a shard.

    Attributes:
        start: the plan for the shard.
        offset: where the query begins. It may differ from the plan's in ``progress``, and says up
            to when the shard was read.
        verdict: whether records are missing.
        last: the last record that the other consumer read. ``None`` if there is none.
        first: the first record that the query will read. ``None`` if none has arrived yet.
        skipped: with ``SKIPS``, the first record that arrived before the query's beginning.
            ``None`` if the search ended before it found one.
        again: number of user records that the other consumer has read, and that come again.
    """

    start: ShardStart
    offset: ShardOffset
    verdict: Verdict
    last: StreamRecord | None = None
    first: StreamRecord | None = None
    skipped: StreamRecord | None = None
    again: int = 0


_OLDEST = ShardOffset(progress=Progress.TRIM_HORIZON)
_WITHOUT = {
    Anchor.NONE: Verdict.BEGINS,
    Anchor.GONE: Verdict.LOST,
    Anchor.UNKNOWN: Verdict.UNPROVEN,
}


def examine(client: KinesisClient, arn: str, start: ShardStart) -> Joint:
    """Read the records around a joint.

    Args:
        client: client of Kinesis.
        arn: ARN of the stream.
        start: the plan for the shard.

    Raises:
        botocore.exceptions.ClientError: if a call fails.
    """
    offset = start.offset
    if offset.progress is Progress.AFTER:
        if offset.sequence_number == start.shard.ending:
            return Joint(start=start, offset=offset, verdict=Verdict.CONTINUES)
        at = replace(offset, progress=Progress.FROM)
        return after(start, first_records(client, arn, start.shard.id, at, count=2))
    found = first_records(client, arn, start.shard.id, offset, count=1)
    if start.stop is None or start.stop.kind is not StopKind.LATEST:
        return before(start, found)
    return newest(start, found, first_records(client, arn, start.shard.id, _OLDEST, count=1))


def after(start: ShardStart, found: FirstRecords) -> Joint:
    """The joint after a record.

    Args:
        start: the plan for the shard.
        found: the first two records from that record on.
    """
    state = anchor(start.shard, start.offset, found)
    if state is not Anchor.THERE:
        first = next(iter(found.records), None)
        return Joint(start=start, offset=start.offset, verdict=_WITHOUT[state], first=first)
    last = found.records[0]
    offset = replace(start.offset, complete_as_of=last.arrived)
    again = _read_of_aggregate(start, last)
    if again:
        offset = replace(offset, progress=Progress.FROM)
        return Joint(
            start=start, offset=offset, verdict=Verdict.REPEATS, last=last, first=last, again=again
        )
    return Joint(
        start=start,
        offset=offset,
        verdict=Verdict.CONTINUES,
        last=last,
        first=found.records[1] if found.records[1:] else None,
    )


def _read_of_aggregate(start: ShardStart, last: StreamRecord) -> int:
    """How many user records were read of an aggregate that was not read completely; 0 for all."""
    sub = None if start.stop is None else start.stop.sub_sequence_number
    packed = None if sub is None else parse(last.data)
    if sub is None or packed is None or sub >= len(packed.rows) - 1:
        return 0
    return sub + 1


def before(start: ShardStart, found: FirstRecords) -> Joint:
    """The joint before the first record that the query reads.

    Args:
        start: the plan for the shard.
        found: the first record from there on.
    """
    first = next(iter(found.records), None)
    offset, state = start.offset, anchor(start.shard, start.offset, found)
    if state is Anchor.THERE and first is not None:
        dated = replace(offset, complete_as_of=first.arrived)
        return Joint(start=start, offset=dated, verdict=Verdict.BEGINS, first=first)
    verdict = _WITHOUT[state]
    if offset.progress is Progress.AT and offset.complete_as_of is None:
        verdict = Verdict.LOST
    return Joint(start=start, offset=offset, verdict=verdict, first=first)


def newest(start: ShardStart, found: FirstRecords, oldest: FirstRecords) -> Joint:
    """The joint where the other consumer was to begin with new records.

    A shard that has received no record keeps this position, and then the query misses none.

    Args:
        start: the plan for the shard, which begins now.
        found: the first record from there on.
        oldest: the first record of the shard.
    """
    first, old = next(iter(found.records), None), next(iter(oldest.records), None)
    begins = start.offset.complete_until
    is_new = old is not None and begins is not None and old.arrived >= begins
    if is_new or (old is None and oldest.is_complete):
        return Joint(start=start, offset=start.offset, verdict=Verdict.BEGINS, first=first)
    return Joint(start=start, offset=start.offset, verdict=Verdict.SKIPS, first=first, skipped=old)
