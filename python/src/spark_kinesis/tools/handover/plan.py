"""Decides where a query begins to read each shard after another consumer. No I/O, no clock."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING

from spark_kinesis._errors import MigrationError
from spark_kinesis._offsets import Progress, ShardOffset
from spark_kinesis.tools.facts.losses import StreamTimes, at_time
from spark_kinesis.tools.facts.streams import ancestors, descendants, named, parents_first

from .positions import TRIM_HORIZON, Stop, StopKind

if TYPE_CHECKING:
    from spark_kinesis.tools.facts.streams import StreamShard


@dataclass(frozen=True, kw_only=True)
class ShardStart:
    """Where a query begins to read a shard.

    Attributes:
        stop: where the other consumer stopped. ``None`` if it named no position for this shard.
        offset: where the query begins. If ``stop`` is in the middle of an aggregate, only the
            record itself shows whether it has to come again.
    """

    shard: StreamShard  # the shard
    stop: Stop | None
    offset: ShardOffset
    times: StreamTimes  # the service's time


@dataclass(frozen=True, kw_only=True)
class StartPlan:
    """Where a query begins to read a stream.

    Attributes:
        read: IDs of the other listed shards. The other consumer has read them, or began after them.
        expired: shards that are no longer listed, and where the other consumer stopped in them
            before their end. Their unread records are lost.
    """

    starts: tuple[ShardStart, ...]  # the shards that the query reads, parents before children
    read: tuple[str, ...]
    expired: Mapping[str, Stop]


def plan_start(
    stream: str,
    listed: Sequence[StreamShard],
    stops: Mapping[str, Stop],
    times: StreamTimes,
    others: Stop | None = None,
) -> StartPlan:
    """Decide where to begin in each shard.

    A shard without a stop begins at its oldest record if it descends from one with a stop. It has
    been read if one with a stop descends from it, unless the query still reads a parent of it.
    """
    by_id = {shard.id: shard for shard in listed}
    if not any(name in by_id for name in stops):
        raise MigrationError(_foreign(stream, listed, stops))
    for name, stop in stops.items():
        if name in by_id:
            _require_inside(stream, by_id[name], stop)
    after, before = descendants(by_id, stops), ancestors(by_id, stops)
    unknown = [it for it in by_id if it not in stops and it not in after and it not in before]
    if unknown and others is None:
        raise MigrationError(_unnamed(stream, unknown))
    starts: dict[str, ShardStart] = {}
    for shard in parents_first(by_id):
        waits_for = tuple(parent for parent in shard.parents if parent in starts)
        given = stops.get(shard.id)
        if given is not None:
            stop = given
        elif waits_for or shard.id in after - before:
            stop = TRIM_HORIZON
        elif shard.id in before or others is None:
            continue
        else:
            stop = others
        if stop.kind is not StopKind.SHARD_END or waits_for:
            offset = _offset(shard, stop, times, waits_for)
            starts[shard.id] = ShardStart(shard=shard, stop=given, offset=offset, times=times)
    return StartPlan(
        starts=tuple(starts.values()),
        read=tuple(name for name in by_id if name not in starts),
        expired={
            name: stop
            for name, stop in stops.items()
            if name not in by_id and stop.kind is not StopKind.SHARD_END
        },
    )


def _offset(
    shard: StreamShard, stop: Stop, times: StreamTimes, waits_for: tuple[str, ...]
) -> ShardOffset:
    if stop.kind is StopKind.SHARD_END:
        # The query reads its parent first, and would add it at the parent's end if it were missing.
        return ShardOffset(
            progress=Progress.AFTER, sequence_number=shard.ending, waits_for=waits_for
        )
    if stop.kind in (StopKind.LATEST, StopKind.AT_TIME):
        return at_time(times.now if stop.time is None else stop.time, times, waits_for)
    progress = {
        StopKind.AFTER: Progress.AFTER,
        StopKind.AT: Progress.FROM,
        StopKind.TRIM_HORIZON: Progress.TRIM_HORIZON,
    }[stop.kind]
    return ShardOffset(progress=progress, sequence_number=stop.sequence_number, waits_for=waits_for)


def _require_inside(stream: str, shard: StreamShard, stop: Stop) -> None:
    number = stop.sequence_number
    if stop.kind is StopKind.SHARD_END and shard.is_open:
        raise MigrationError(
            f"stream {stream}, {shard.id}: the positions say that it was read to its end, but it "
            "is open. They belong to another stream, or to an earlier one with the same name."
        )
    if number is None:
        return
    if number < shard.starting or (shard.ending is not None and number > shard.ending):
        last = "" if shard.ending is None else f" to {shard.ending}"
        raise MigrationError(
            f"stream {stream}, {shard.id}: sequence number {number} is not in this shard, whose "
            f"numbers are from {shard.starting}{last}. The positions belong to another stream, or "
            "to an earlier one with the same name."
        )


def _foreign(stream: str, listed: Sequence[StreamShard], stops: Mapping[str, Stop]) -> str:
    named = ", ".join(sorted(stops)[:3]) or "no shard"
    has = ", ".join(shard.id for shard in listed[:3])
    return (
        f"the positions name none of the {len(listed)} shards of stream {stream}. They name "
        f"{named}; the stream has {has}. Check the name of the stream. If all the shards have "
        "expired, begin a new query at trim_horizon."
    )


def _unnamed(stream: str, unknown: Sequence[str]) -> str:
    return (
        f"stream {stream}: the positions do not say where to begin in {named(unknown)}. No shard "
        "that they name precedes or follows these. Complete the positions, or choose where to "
        "begin in such shards with --others trim_horizon, --others latest or --others TIME."
    )
