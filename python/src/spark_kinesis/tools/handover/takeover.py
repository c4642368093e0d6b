"""A query takes streams over from another consumer: where it begins, and what the records prove.

Each shard has a joint: where the other consumer stopped, and the first record that the query will
read. Nothing of the other consumer is changed.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, replace
from typing import TYPE_CHECKING

from spark_kinesis._errors import MigrationError
from spark_kinesis._offsets import Progress, ShardOffset, SourceOffset, StreamOffset, encode
from spark_kinesis._times import instant, parsed
from spark_kinesis.tools.changes import Plan, ShardPlan
from spark_kinesis.tools.facts.aggregates import parse
from spark_kinesis.tools.facts.checkpoints import initial_path
from spark_kinesis.tools.facts.files import CheckpointFiles, open_files
from spark_kinesis.tools.facts.losses import SHARD_EXPIRED, StreamTimes, at_time, dated, loss_at
from spark_kinesis.tools.facts.records import Around, StreamRecord, around
from spark_kinesis.tools.facts.streams import (
    ancestors,
    ask_each,
    descendants,
    describe,
    list_shards,
    named,
    parents_first,
)

if TYPE_CHECKING:
    from mypy_boto3_kinesis import KinesisClient

    from spark_kinesis.tools.facts.streams import StreamShard

    from .positions import Stop

_OLDEST = ShardOffset(progress=Progress.TRIM_HORIZON)
_NOTHING = Around()


@dataclass(frozen=True, kw_only=True)
class Joint:
    """Where a query begins to read a shard.

    Attributes:
        stop: where the other consumer stopped. ``None`` if it named no position for this shard.
        found: the records around the beginning.
        again: number of user records that the other consumer has read, and that come again.
        loss: what is lost, or may be, without a period. ``None`` if nothing is.
    """

    shard: StreamShard
    stop: Stop | None
    offset: ShardOffset
    found: Around = _NOTHING
    again: int = 0
    loss: str | None = None

    @property
    def words(self) -> str:
        """What happens at the joint."""
        verb = "continues" if self.offset.progress is Progress.AFTER else "begins"
        if self.again:
            verb = f"repeats {self.again} user records (subSequenceNumber 0 to {self.again - 1})"
        stopped = "not named" if self.stop is None else self.stop.words
        waits = "".join(f"; waits for {it}" for it in self.offset.waits_for)
        return f"{verb}; it stopped {stopped}; first record {self.found.first_text}{waits}"


@dataclass(frozen=True, kw_only=True)
class TakeOver(Plan):
    """A checkpoint of a new query."""

    files: CheckpointFiles  # its files
    source: str  # number or name of the source
    offset: SourceOffset  # where the query begins

    @property
    def undo(self) -> str:
        """What to do to take it back. The other consumer has kept its positions."""
        file = f"{self.files.location}/{initial_path(self.source)}"
        return f"delete {file}, and start the other consumer"


def take_over(
    stops: Mapping[str, Mapping[str, Stop]],
    checkpoint: CheckpointFiles | str,
    *,
    kinesis: KinesisClient,
    source: str = "0",
    begin: ShardOffset | None = None,
    allow_data_loss: bool = False,
    approve: Callable[[TakeOver], bool] = lambda _: True,
    watch: Callable[[], None] = lambda: None,
) -> TakeOver:
    """Write the checkpoint of a new query that continues where another consumer stopped.

    Args:
        stops: where the other consumer stopped, by stream and shard: from ``read_stops`` or
            ``kcl_stops``.
        checkpoint: the files of the new checkpoint, or its folder or URL.
        kinesis: boto3's client of Kinesis, in the region of the streams.
        source: number of the source in the new query, from 0, or its name.
        begin: where to begin in shards for which the positions do not say it. ``None`` refuses
            them.
        allow_data_loss: whether to write although unread records have expired, or may have.
        approve: is called with the plan, before anything is written. If it returns false, nothing
            is.
        watch: raises an error if the other consumer still runs. It is called before writing.

    Raises:
        MigrationError: if the positions do not fit the streams, if records are lost, or if the
            checkpoint belongs to a query that has begun.
    """
    files = open_files(checkpoint) if isinstance(checkpoint, str) else checkpoint
    _require_new(files, source)
    shards, offsets = list[ShardPlan](), dict[str, StreamOffset]()
    for name, them in stops.items():
        arn, offset, found = _examined(kinesis, name, them, begin)
        offsets[arn] = offset
        shards += found
    plan = TakeOver(files=files, source=source, shards=shards, offset=SourceOffset(streams=offsets))
    if not plan.is_approved(approve, MigrationError, allow_loss=allow_data_loss):
        return plan
    watch()
    _require_new(files, source)
    files.create(initial_path(source), encode(plan.offset))
    return replace(plan, is_done=True)


def _require_new(files: CheckpointFiles, source: str) -> None:
    if files.names("offsets") or files.read(initial_path(source)) is not None:
        raise MigrationError(
            f"the checkpoint {files.location} belongs to a query that has begun. Choose a folder "
            "that does not exist yet. To move a query of this connector, use spark-kinesis rewind."
        )


def _examined(
    client: KinesisClient, stream: str, stops: Mapping[str, Stop], begin: ShardOffset | None
) -> tuple[str, StreamOffset, list[ShardPlan]]:
    """Where to begin in a stream, and what that does. Makes two calls per shard."""
    found = describe(client, stream)
    arn, listed, times = found.arn, list_shards(client, found.arn), StreamTimes.of(found)

    def ask(it: Joint) -> Joint:
        return joined(it, around(client, arn, it.shard, it.offset), times)

    joints = ask_each(ask, plan_start(found.name, listed, stops, times, begin))
    shards = [
        ShardPlan(arn=arn, shard=name, words=f"it stopped {stop.words}", loss=SHARD_EXPIRED)
        for name, stop in stops.items()
        if name not in {it.id for it in listed} and stop.progress is not Progress.FINISHED
    ]
    shards += [ShardPlan(arn=arn, shard=it.shard.id, words=it.words, loss=it.loss) for it in joints]
    places = {it.shard.id: it.offset for it in joints}
    return arn, StreamOffset(created=instant(found.created), shards=places), shards


def plan_start(
    stream: str,
    listed: Sequence[StreamShard],
    stops: Mapping[str, Stop],
    times: StreamTimes,
    begin: ShardOffset | None = None,
) -> list[Joint]:
    """Decide where to begin in each shard, parents before children.

    A shard without a stop begins at its oldest record if it descends from one with a stop. It has
    been read if one with a stop descends from it, unless the query still reads a parent of it.
    """
    by_id = {shard.id: shard for shard in listed}
    _require_fitting(stream, by_id, stops)
    after, before = descendants(by_id, stops), ancestors(by_id, stops)
    unknown = [it for it in by_id if it not in stops and it not in after and it not in before]
    unknown += [it for it in by_id if it in stops and stops[it].is_vague]
    if unknown and begin is None:
        raise MigrationError(
            f"stream {stream}: the positions do not say which records were read of "
            f"{named(unknown)}. They are LATEST or AT_TIMESTAMP without a time, or missing. Choose "
            "where to begin in such shards with --begin trim_horizon, latest or TIME."
        )
    joints: dict[str, Joint] = {}
    for shard in parents_first(by_id):
        waits_for = tuple(parent for parent in shard.parents if parent in joints)
        given = stops.get(shard.id)
        stop: ShardOffset | None = begin if shard.id in unknown else given
        if stop is None:
            if not waits_for and shard.id not in after - before:
                continue
            stop = _OLDEST
        if stop.progress is not Progress.FINISHED or waits_for:
            offset = _offset(shard, stop, times, waits_for)
            joints[shard.id] = Joint(shard=shard, stop=given, offset=offset)
    return [*joints.values()]


def _require_fitting(
    stream: str, listed: Mapping[str, StreamShard], stops: Mapping[str, Stop]
) -> None:
    if not any(name in listed for name in stops):
        raise MigrationError(
            f"the positions name none of the shards of stream {stream}. They name "
            f"{named(sorted(stops))}; the stream has {named(sorted(listed))}. Check the name of "
            "the stream. If all the shards have expired, begin a new query at trim_horizon."
        )
    for name in stops.keys() & listed.keys():
        shard, stop = listed[name], stops[name]
        if stop.sequence_number is not None:
            _require_inside(shard, stop.sequence_number)
        if stop.progress is Progress.FINISHED and shard.is_open:
            raise MigrationError(
                f"stream {stream}, {name}: the positions say that it was read to its end, but it "
                "is open. They belong to another stream, or to an earlier one with the same name."
            )


def _require_inside(shard: StreamShard, number: int) -> None:
    if number < shard.starting or (shard.ending is not None and number > shard.ending):
        last = "" if shard.ending is None else f" to {shard.ending}"
        raise MigrationError(
            f"sequence number {number} is not in {shard.id}, whose numbers are from "
            f"{shard.starting}{last}. The positions belong to another stream, or to an earlier one "
            "with the same name."
        )


def _offset(
    shard: StreamShard, stop: ShardOffset, times: StreamTimes, waits_for: tuple[str, ...]
) -> ShardOffset:
    if stop.progress is Progress.AT:
        return at_time(parsed(stop.time) or times.now, times, waits_for)
    number, progress = stop.sequence_number, stop.progress
    if progress is Progress.FINISHED:
        # The query reads its parent first, and would add it at the parent's end if it were missing.
        number, progress = shard.ending, Progress.AFTER
    return ShardOffset(progress=progress, sequence_number=number, waits_for=waits_for)


def joined(joint: Joint, found: Around, times: StreamTimes) -> Joint:
    """A joint with what the records around it prove."""
    loss = loss_at(joint.offset, found, times)
    joint = replace(joint, found=found, loss=loss, offset=dated(joint.offset, found, times))
    again = _read_of_aggregate(joint.stop, found.named)
    if loss is not None or not again:
        return joint
    begin = replace(joint.offset, progress=Progress.FROM)
    return replace(joint, offset=begin, found=replace(found, first=found.named), again=again)


def _read_of_aggregate(stop: Stop | None, last: StreamRecord | None) -> int:
    """How many user records were read of an aggregate that was not read completely; 0 for all."""
    sub = None if stop is None else stop.sub
    packed = None if sub is None or last is None else parse(last.data)
    if sub is None or packed is None or sub >= len(packed.rows) - 1:
        return 0
    return sub + 1
