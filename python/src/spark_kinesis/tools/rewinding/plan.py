"""Decides the new position of a query in each shard. No I/O, no clock."""

from __future__ import annotations

import re
from collections.abc import Collection, Mapping, Sequence
from dataclasses import dataclass, replace
from datetime import datetime, timedelta
from typing import TYPE_CHECKING

from spark_kinesis._errors import CheckpointError
from spark_kinesis._offsets import Progress, ShardOffset, StreamOffset
from spark_kinesis._times import instant, utc_now
from spark_kinesis.tools.cli import FORMS, read_time
from spark_kinesis.tools.facts.losses import at_time
from spark_kinesis.tools.facts.streams import descendants, named

if TYPE_CHECKING:
    from spark_kinesis.tools.facts.losses import StreamTimes
    from spark_kinesis.tools.facts.streams import StreamShard

# The error of the service's time: a header has whole seconds.
_RESOLUTION = timedelta(seconds=1)
_FORMS = f"{FORMS}, trim_horizon, latest, at:NUMBER or after:NUMBER"


@dataclass(frozen=True, kw_only=True)
class Target:
    """The position to which a query is moved.

    Attributes:
        time: the time. With ``AT`` and without a time, the position is the newest record.
    """

    progress: Progress  # ``TRIM_HORIZON``, ``AT`` a time, ``AFTER`` a record or ``FROM`` a record
    time: datetime | None = None
    sequence_number: int | None = None  # the record

    @staticmethod
    def of(text: str) -> Target:
        """The position that a text means: ``latest``, ``trim_horizon``, ``at:NUMBER`` or a time."""
        word = text.strip().lower()
        record = re.fullmatch(r"(at|after):(\d+)", word)
        if record:
            progress = Progress.FROM if record[1] == "at" else Progress.AFTER
            return Target(progress=progress, sequence_number=int(record[2]))
        if word == "trim_horizon":
            return Target(progress=Progress.TRIM_HORIZON)
        if word == "latest":
            return Target(progress=Progress.AT)
        try:
            return Target(progress=Progress.AT, time=read_time(text, utc_now()))
        except ValueError:
            raise ValueError(f"{text!r} is not {_FORMS}") from None

    @property
    def is_latest(self) -> bool:
        """Whether it is the newest record."""
        return self.progress is Progress.AT and self.time is None

    @property
    def text(self) -> str:
        """The position as the command line has it."""
        if self.progress in (Progress.AFTER, Progress.FROM):
            word = "after" if self.progress is Progress.AFTER else "at"
            return f"{word}:{self.sequence_number}"
        if self.progress is Progress.TRIM_HORIZON:
            return "trim_horizon"
        return "latest" if self.time is None else instant(self.time)


_OLDEST = Target(progress=Progress.TRIM_HORIZON)


def settled(offset: StreamOffset) -> StreamOffset:
    """An offset without the shards that are finished in it: where the next micro-batch begins."""
    finished = {name for name, it in offset.shards.items() if it.progress is Progress.FINISHED}
    return StreamOffset(
        created=offset.created,
        shards={
            name: replace(
                it,
                first=None,
                waits_for=tuple(parent for parent in it.waits_for if parent not in finished),
            )
            for name, it in offset.shards.items()
            if name not in finished
        },
    )


def rewound(
    old: StreamOffset,
    listed: Sequence[StreamShard],
    target: Target,
    times: StreamTimes,
    chosen: Collection[str] = (),
) -> StreamOffset:
    """The new position of a query in a stream.

    The descendants of a chosen shard move with it, so that the order of each partition key remains.
    Only with the newest record as the target they stay.
    """
    by_id = {shard.id: shard for shard in listed}
    _check(by_id.keys(), target, times, chosen)
    before = settled(old).shards
    if target.is_latest:
        _require_unfinished(by_id, before, chosen)
    if not chosen:
        moved = {it.id for it in listed if it.is_open} if target.is_latest else set(by_id)
        kept: dict[str, ShardOffset] = {}
    else:
        moved = set(chosen) | (set() if target.is_latest else descendants(by_id, chosen))
        kept = {name: it for name, it in before.items() if name not in moved}
    known = moved | set(kept)
    # All records of a descendant arrived after those of the shard itself.
    follows = target if target.progress is Progress.AT else _OLDEST
    shards = dict(kept)
    for name in sorted(moved):
        parents = () if target.is_latest and not chosen else by_id[name].parents
        waits_for = tuple(parent for parent in parents if parent in known)
        wanted = target if not chosen or name in chosen else follows
        made = _offset(by_id[name], wanted, times, waits_for)
        shards[name] = _same_time(made, before.get(name), times)
    return StreamOffset(created=old.created, shards=shards)


def _same_time(made: ShardOffset, before: ShardOffset | None, times: StreamTimes) -> ShardOffset:
    """A shard that stays where it was keeps the time up to which it was read.

    Unless this time has expired: then the query would fail again after the move.
    """
    if before is None or made.place != before.place:
        return made
    read = before.complete_as_of
    if read is not None and times.has_expired(read):
        return made
    return replace(made, complete_as_of=read)


def _offset(
    shard: StreamShard, target: Target, times: StreamTimes, waits_for: tuple[str, ...]
) -> ShardOffset:
    if target.progress is Progress.AT:
        return at_time(target.time or times.now, times, waits_for)
    number = target.sequence_number
    if number is not None and not shard.starting <= number <= (shard.ending or number):
        last = "" if shard.ending is None else f" to {shard.ending}"
        raise CheckpointError(
            f"sequence number {number} is not in {shard.id}, whose numbers are from "
            f"{shard.starting}{last}"
        )
    return ShardOffset(progress=target.progress, sequence_number=number, waits_for=waits_for)


def _require_unfinished(
    by_id: Mapping[str, StreamShard], before: Mapping[str, ShardOffset], chosen: Collection[str]
) -> None:
    """Refuse a shard that was read to its end. At its end, the query would read its children again.

    An open shard has no end yet.
    """
    later = descendants(by_id, before)
    for name in chosen:
        if name not in before and name not in later and not by_id[name].is_open:
            raise CheckpointError(
                f"the query has read shard {name} to its end, so there is nothing to move to "
                "latest. To move the shards that descend from it, name them with --shard."
            )


def _check(
    listed: Collection[str], target: Target, times: StreamTimes, chosen: Collection[str]
) -> None:
    missing = sorted(set(chosen) - set(listed))
    if missing:
        raise CheckpointError(
            f"the stream has no shard {missing[0]}. It has {named(sorted(listed))}."
        )
    if target.sequence_number is not None and len(chosen) != 1:
        raise CheckpointError(
            "a sequence number belongs to one shard: name this shard with --shard, and no other"
        )
    if target.time is not None and target.time > times.now + _RESOLUTION:
        raise CheckpointError(
            f"{instant(target.time)} is in the future: the service's time is {instant(times.now)}"
        )
