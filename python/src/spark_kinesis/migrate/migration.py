"""The move of a stream from another consumer: plan, proof, and where a query begins."""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass
from typing import TYPE_CHECKING

from spark_kinesis._errors import MigrationError
from spark_kinesis._options.position_maps import ByShard
from spark_kinesis._options.positions import (
    AfterSequenceNumber,
    AtSequenceNumber,
    AtTimestamp,
    Latest,
    ShardPosition,
    TrimHorizon,
)
from spark_kinesis._times import from_iso, instant
from spark_kinesis.checkpoint import Progress, SourceOffset, StreamOffset
from spark_kinesis.stream import StreamSummary, describe, list_shards
from spark_kinesis.stream.threads import Advance, ask_each, ignore
from spark_kinesis.stream.times import StreamTimes, created_again

from .joint import Joint, Verdict, examine
from .plan import StartPlan, plan_start

if TYPE_CHECKING:
    from mypy_boto3_kinesis import KinesisClient

    from .stops import Stop, StreamStops

HINT = (
    "If the application supplied another creation time for the stream, set --ignore-creation-time, "
    "or ignore_creation_time of FromKclTable."
)
"""What to do about a creation time in a lease that is not that of the stream."""


@dataclass(frozen=True, kw_only=True)
class StreamMigration:
    """A stream that a query takes over.

    Attributes:
        stream: the settings of the stream.
        plan: where the query begins in each shard.
        joints: the records around each beginning, in the order of the plan.
    """

    stream: StreamSummary
    plan: StartPlan
    joints: tuple[Joint, ...]

    @property
    def offset(self) -> StreamOffset:
        """The position of a query that begins there."""
        shards = {it.start.shard.id: it.offset for it in self.joints}
        return StreamOffset(created=instant(self.stream.created), shards=shards)

    @property
    def position(self) -> ByShard:
        """The positions as a value of ``starting_position``.

        A shard that has been read gets ``Latest()``: no record of it arrives any more.
        """
        named = {it.start.shard.id: _position(it) for it in self.joints}
        return ByShard({**dict.fromkeys(self.plan.read, Latest()), **named}, TrimHorizon())

    @property
    def losses(self) -> list[str]:
        """What is lost or may be lost, one sentence per shard."""
        arn = self.stream.arn
        gone = [
            f"Stream {arn}, {shard}: the shard has expired. The other consumer stopped in it: "
            f"{stop.text}."
            for shard, stop in self.plan.expired.items()
        ]
        return gone + [_loss(arn, it) for it in self.joints if _is_loss(it)]


def take_over(
    client: KinesisClient,
    stopped: StreamStops,
    *,
    others: Stop | None = None,
    advance: Advance = ignore,
) -> StreamMigration:
    """Plan how a query takes a stream over, and read the records around each joint.

    Makes two calls per shard, four for a shard at ``LATEST``, and changes nothing.

    Args:
        client: client of Kinesis.
        stopped: the stream, and where the other consumer stopped in it.
        others: where to begin in shards that have nothing to do with any stop. ``None`` refuses
            them.
        advance: called with the number of shards that were examined, and with that of all shards.

    Raises:
        MigrationError: if the positions do not fit the stream.
        botocore.exceptions.ClientError: if a call fails.
    """
    found = describe(client, stopped.stream)
    again = created_again(found.arn, found.created, stopped.created)
    if again is not None:
        raise MigrationError(f"{again} {HINT}")
    listed = list_shards(client, found.arn)
    plan = plan_start(found.name, listed, stopped.stops, StreamTimes.of(found), others)
    joints = ask_each(lambda it: examine(client, found.arn, it), plan.starts, advance)
    return StreamMigration(stream=found, plan=plan, joints=tuple(joints))


def source_offset(migrations: Iterable[StreamMigration]) -> SourceOffset:
    """The first offset of a query that reads these streams."""
    return SourceOffset(streams={it.stream.arn: it.offset for it in migrations})


def _is_loss(joint: Joint) -> bool:
    return joint.verdict in (Verdict.LOST, Verdict.UNPROVEN, Verdict.SKIPS)


def _loss(arn: str, joint: Joint) -> str:
    where = f"Stream {arn}, {joint.start.shard.id}"
    number = joint.start.offset.sequence_number
    if joint.verdict is Verdict.SKIPS:
        return f"{where}: {_skipped(joint)}"
    if joint.verdict is Verdict.UNPROVEN:
        return f"{where}: no record was found from {number} on before the search ended. Try again."
    first = (
        "No later record is there."
        if joint.first is None
        else f"The first record that is left, {joint.first.sequence_number}, arrived at "
        f"{instant(joint.first.arrived)}."
    )
    if joint.offset.progress is Progress.AT:
        time = joint.offset.time
        span = (
            f"from {time} on"
            if joint.first is None
            else f"between {time} and the oldest record that is left"
        )
        return f"{where}: records that arrived {span} may have expired. {first}"
    return f"{where}: record {number} is gone. Unread records after it may have expired. {first}"


def _skipped(joint: Joint) -> str:
    old = joint.skipped
    first = (
        "the search for them ended before it found one"
        if old is None
        else f"the first of them, {old.sequence_number}, arrived at {instant(old.arrived)}"
    )
    return (
        "the other consumer was to begin with new records (LATEST). Records that arrived before "
        f"{joint.offset.time} are not read: {first}. To read those that it has not processed, set "
        "--at, or at of FromKclTable, to the time at which it began, or to the oldest time within "
        "the retention period."
    )


def _position(joint: Joint) -> ShardPosition:
    offset = joint.offset
    if offset.progress is Progress.AFTER:
        return AfterSequenceNumber(str(offset.sequence_number))
    if offset.progress is Progress.FROM:
        return AtSequenceNumber(str(offset.sequence_number))
    if offset.progress is Progress.AT:
        return AtTimestamp(from_iso(str(offset.time)))
    return TrimHorizon()
