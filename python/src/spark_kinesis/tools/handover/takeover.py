"""A stream that a query takes over from another consumer: the plan, and what the records prove.

Each shard has a joint: the last record that the other consumer read, and the first one that the
query will read.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from dataclasses import dataclass, replace
from enum import Enum
from typing import TYPE_CHECKING, Any

from spark_kinesis._errors import MigrationError
from spark_kinesis._offsets import Progress, ShardOffset, SourceOffset, StreamOffset, encode
from spark_kinesis._times import instant
from spark_kinesis.tools.facts.aggregates import parse
from spark_kinesis.tools.facts.checkpoints import initial_path
from spark_kinesis.tools.facts.losses import StreamTimes, created_again, dated, loss_at
from spark_kinesis.tools.facts.records import (
    Anchor,
    FirstRecords,
    StreamRecord,
    around,
    first_records,
    is_end,
)
from spark_kinesis.tools.facts.streams import (
    Advance,
    StreamSummary,
    ask_each,
    describe,
    ignore,
    list_shards,
)

from .plan import ShardStart, StartPlan, plan_start
from .positions import StopKind

if TYPE_CHECKING:
    from mypy_boto3_kinesis import KinesisClient

    from spark_kinesis.tools.facts.files import CheckpointFiles

    from .positions import Stop, StreamStops

HINT = (
    "If the application supplied another creation time for the stream, set --ignore-creation-time."
)
"""What to do about a creation time in a lease that is not that of the stream."""

_OLDEST = ShardOffset(progress=Progress.TRIM_HORIZON)


class Verdict(Enum):
    """Whether records are missing where the query begins.

    ``CONTINUES``: the last record that was read is there, and the query begins right after it.
    ``REPEATS``: the other consumer stopped in an aggregate, and the whole aggregate comes again.
    ``BEGINS``: it has read nothing of the shard that the stream still holds.
    ``SKIPS``: it was to begin with new records. Older ones are there, or may be.
    ``LOST``: the record or the time of the position is gone. Unread records may be, too.
    ``UNPROVEN``: the search ended before it found a record.
    """

    CONTINUES = "continues"
    REPEATS = "repeats"
    BEGINS = "begins"
    SKIPS = "skips"
    LOST = "lost"
    UNPROVEN = "unproven"


@dataclass(frozen=True, kw_only=True)
class Joint:
    """What is around the position where a query begins in a shard.

    Attributes:
        offset: where the query begins. It may differ from the plan's in ``progress``, and says up
            to when the shard was read.
        last: the last record that the other consumer read. ``None`` if there is none.
        first: the first record that the query will read. ``None`` if none has arrived yet.
    """

    start: ShardStart  # the plan for the shard
    offset: ShardOffset
    verdict: Verdict  # whether records are missing
    last: StreamRecord | None = None
    first: StreamRecord | None = None
    again: int = 0  # number of user records that the other consumer has read, and that come again
    loss: str | None = None  # what is lost or skipped, or may be. ``None`` if nothing is.

    @property
    def words(self) -> str:
        """What happens at the joint."""
        if self.verdict is Verdict.SKIPS:
            text = f"begins NOW: records before {self.offset.time} are not read"
        elif self.verdict is Verdict.REPEATS:
            text = f"repeats {self.again} user records: subSequenceNumber 0 to {self.again - 1}"
        elif self.loss is not None:
            text = f"{self.verdict.name}: see below"
        else:
            text = self.verdict.value
        waits_for = self.offset.waits_for
        return text if not waits_for else f"{text}; waits for {', '.join(waits_for)}"

    @property
    def document(self) -> dict[str, Any]:
        """The joint for machines."""
        stop = self.start.stop
        return {
            "shard": self.start.shard.id,
            "stopped": None if stop is None else stop.text,
            "begins": self.offset.place,
            "joint": self.verdict,
            "lastRead": _record(self.last),
            "firstRecord": _record(self.first),
            "userRecordsAgain": self.again,
            "waitsFor": list(self.offset.waits_for),
        }


def _record(record: StreamRecord | None) -> dict[str, Any] | None:
    if record is None:
        return None
    return {"sequenceNumber": str(record.sequence_number), "arrived": record.arrived}


@dataclass(frozen=True, kw_only=True)
class StreamMigration:
    """A stream that a query takes over."""

    stream: StreamSummary  # the settings of the stream
    plan: StartPlan  # where the query begins in each shard
    joints: tuple[Joint, ...]  # the records around each beginning, in the order of the plan

    @property
    def offset(self) -> StreamOffset:
        """The position of a query that begins there."""
        shards = {it.start.shard.id: it.offset for it in self.joints}
        return StreamOffset(created=instant(self.stream.created), shards=shards)

    @property
    def losses(self) -> list[str]:
        """What is lost or may be lost, one sentence per shard."""
        arn = self.stream.arn
        gone = [
            f"Stream {arn}, {shard}: the shard has expired. The other consumer stopped in it: "
            f"{stop.text}."
            for shard, stop in self.plan.expired.items()
        ]
        return gone + [
            f"Stream {arn}, {it.start.shard.id}: {it.loss}"
            for it in self.joints
            if it.loss is not None
        ]

    def lines(self, name: str) -> Iterator[str]:
        """Three lines per shard to read. Sequence numbers are too long for a table.

        Args:
            name: what to call the stream.
        """
        for joint in self.joints:
            stop, first = joint.start.stop, joint.first
            yield f"{name} {joint.start.shard.id}: {joint.words}"
            yield f"  it stopped    {'not named' if stop is None else stop.text}"
            if first is None:
                yield "  first record  none yet"
            else:
                arrived = instant(first.arrived)
                yield f"  first record  {first.sequence_number}, which arrived at {arrived}"
        counts = f"{len(self.joints)} shards to read, {len(self.plan.read)} already read"
        yield f"{name}: {counts}"

    @property
    def document(self) -> dict[str, Any]:
        """The stream for machines."""
        return {
            "stream": self.stream.arn,
            "shards": [it.document for it in self.joints],
            "alreadyRead": list(self.plan.read),
            "losses": self.losses,
        }


def plan_takeover(
    client: KinesisClient,
    stopped: StreamStops,
    *,
    others: Stop | None = None,
    advance: Advance = ignore,
) -> StreamMigration:
    """Plan how a query takes a stream over, and read the records around each joint.

    Makes two calls per shard, four for a shard at ``LATEST``, and changes nothing.
    """
    found = describe(client, stopped.stream)
    again = created_again(found.arn, found.created, stopped.created)
    if again is not None:
        raise MigrationError(f"{again} {HINT}")
    listed = list_shards(client, found.arn)
    plan = plan_start(found.name, listed, stopped.stops, StreamTimes.of(found), others)
    joints = ask_each(lambda it: _examine(client, found.arn, it), plan.starts, advance)
    return StreamMigration(stream=found, plan=plan, joints=tuple(joints))


def _examine(client: KinesisClient, arn: str, start: ShardStart) -> Joint:
    offset, shard = start.offset, start.shard
    if is_end(shard, offset):
        return Joint(start=start, offset=offset, verdict=Verdict.CONTINUES)
    if offset.progress is Progress.AFTER:
        at = replace(offset, progress=Progress.FROM)
        return joined(start, first_records(client, arn, shard.id, at, count=2))
    found = first_records(client, arn, shard.id, offset, count=1)
    if start.stop is None or start.stop.kind is not StopKind.LATEST:
        return joined(start, found)
    return newest(start, found, first_records(client, arn, shard.id, _OLDEST, count=1))


def joined(start: ShardStart, found: FirstRecords) -> Joint:
    """The joint at a position."""
    offset = start.offset
    seen = around(start.shard, offset, found)
    loss = loss_at(offset, seen, start.times)
    joint = Joint(start=start, offset=offset, verdict=Verdict.BEGINS, first=seen.unread.first)
    if seen.anchor is Anchor.UNKNOWN:
        return replace(joint, verdict=Verdict.UNPROVEN, loss=f"{loss}.")
    if loss is not None:
        return replace(joint, verdict=Verdict.LOST, loss=f"{loss}. {_left(joint.first)}")
    joint = replace(joint, offset=dated(offset, seen, start.times))
    if seen.anchor is Anchor.NONE or offset.progress is not Progress.AFTER:
        return joint
    last = seen.named
    again = 0 if last is None else _read_of_aggregate(start, last)
    if again:
        begin = replace(joint.offset, progress=Progress.FROM)
        return replace(
            joint, offset=begin, verdict=Verdict.REPEATS, last=last, first=last, again=again
        )
    return replace(joint, verdict=Verdict.CONTINUES, last=last)


def _left(first: StreamRecord | None) -> str:
    if first is None:
        return "No later record is there."
    return (
        f"The first record that is left, {first.sequence_number}, arrived at "
        f"{instant(first.arrived)}."
    )


def _read_of_aggregate(start: ShardStart, last: StreamRecord) -> int:
    """How many user records were read of an aggregate that was not read completely; 0 for all."""
    sub = None if start.stop is None else start.stop.sub_sequence_number
    packed = None if sub is None else parse(last.data)
    if sub is None or packed is None or sub >= len(packed.rows) - 1:
        return 0
    return sub + 1


def newest(start: ShardStart, found: FirstRecords, oldest: FirstRecords) -> Joint:
    """The joint where the other consumer was to begin with new records.

    A shard that has received no record keeps this position, and then the query misses none.
    """
    old, begins = oldest.first, start.offset.complete_until
    joint = Joint(start=start, offset=start.offset, verdict=Verdict.BEGINS, first=found.first)
    is_new = old is not None and begins is not None and old.arrived >= begins
    if is_new or (old is None and oldest.is_complete):
        return joint
    first = (
        "the search for them ended before it found one"
        if old is None
        else f"the first of them, {old.sequence_number}, arrived at {instant(old.arrived)}"
    )
    loss = (
        "the other consumer was to begin with new records (LATEST). Records that arrived before "
        f"{start.offset.time} are not read: {first}. To read those that it has not processed, set "
        "--at to the time at which it began, or to the oldest time within the retention period."
    )
    return replace(joint, verdict=Verdict.SKIPS, loss=loss)


def require_new(files: CheckpointFiles, source: str) -> None:
    """Refuse a checkpoint of a query that has begun."""
    if files.names("offsets") or files.read(initial_path(source)) is not None:
        raise MigrationError(
            f"the checkpoint {files.location} belongs to a query that has begun. Choose a folder "
            "that does not exist yet. To move a query of this connector, use spark-kinesis rewind."
        )


def write_new(files: CheckpointFiles, source: str, migrations: Iterable[StreamMigration]) -> None:
    """Write the position at which a source of a new query begins."""
    offset = SourceOffset(streams={it.stream.arn: it.offset for it in migrations})
    require_new(files, source)
    try:
        files.create(initial_path(source), encode(offset))
    except FileExistsError:
        require_new(files, source)
        raise
