"""Decides the new position of a query in each shard. No I/O, no clock."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import replace
from datetime import timedelta
from typing import TYPE_CHECKING

from spark_kinesis._errors import CheckpointError
from spark_kinesis._offsets import Progress, ShardOffset, StreamOffset
from spark_kinesis._times import instant, parsed
from spark_kinesis.tools.changes import LATEST, ShardPlan
from spark_kinesis.tools.facts.losses import SHARD_EXPIRED, StreamTimes, at_time, loss_at
from spark_kinesis.tools.facts.records import Around
from spark_kinesis.tools.facts.streams import descendants

if TYPE_CHECKING:
    from spark_kinesis.tools.facts.streams import StreamShard

# The error of the service's time: a header has whole seconds.
_RESOLUTION = timedelta(seconds=1)
_UNREAD = Around()  # a time and the oldest record name no record


def settled(offset: StreamOffset) -> Mapping[str, ShardOffset]:
    """Where the next micro-batch begins: an offset without the shards that are finished in it."""
    left = {name: it for name, it in offset.shards.items() if it.progress is not Progress.FINISHED}
    finished = offset.shards.keys() - left.keys()
    return {
        name: replace(it, first=None, waits_for=tuple(p for p in it.waits_for if p not in finished))
        for name, it in left.items()
    }


def rewound(
    old: StreamOffset, listed: Sequence[StreamShard], target: ShardOffset, times: StreamTimes
) -> StreamOffset:
    """The new position of a query in a stream: ``LATEST``, a time, or the oldest record."""
    is_latest = target == LATEST
    time = times.now if is_latest else parsed(target.time)
    if time is not None and time > times.now + _RESOLUTION:
        raise CheckpointError(
            f"{target.time} is in the future: the service's time is {instant(times.now)}"
        )
    known = {it.id for it in listed if it.is_open or not is_latest}
    before = settled(old)
    shards = {}
    for shard in listed:
        if shard.id in known:
            waits_for = tuple(parent for parent in shard.parents if parent in known)
            made = replace(target, waits_for=waits_for)
            made = made if time is None else at_time(time, times, waits_for)
            shards[shard.id] = _same_time(made, before.get(shard.id), times)
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


def shard_plans(
    arn: str,
    listed: Mapping[str, StreamShard],
    before: StreamOffset,
    after: StreamOffset,
    times: StreamTimes,
) -> Iterator[ShardPlan]:
    """What happens to each shard whose position changes. It also changes if only its time does.

    A new position at the beginning of a shard that the query would have reached later is none.
    """
    old, new = settled(before), after.shards
    later = descendants(listed, old) - set(old)
    for name in sorted({*old, *new}):
        was, now = old.get(name), new.get(name)
        if was is None and name in later and now is not None:
            if now.progress is Progress.TRIM_HORIZON:
                continue
        elif was is not None and now is not None and was.text == now.text:
            continue
        # At the old position, the query would fail. At the new one it would not notice the loss.
        losses = [loss_at(it, _UNREAD, times) for it in (was, now) if it is not None]
        loss = next(filter(None, losses), None) if name in listed else SHARD_EXPIRED
        is_begun = "not begun" if name in later else "read to its end"
        words = (
            f"from {is_begun if was is None else was.place} "
            f"to {'not read any more' if now is None else now.place}"
        )
        yield ShardPlan(arn=arn, shard=name, words=words, loss=loss)
