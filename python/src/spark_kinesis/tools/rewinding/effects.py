"""The move of a query: new positions in its streams, and what they skip, repeat or lose."""

from __future__ import annotations

import time
from collections.abc import Callable, Collection, Mapping
from dataclasses import dataclass, replace
from enum import Enum
from typing import TYPE_CHECKING, Any

from spark_kinesis._errors import CheckpointError
from spark_kinesis._offsets import Progress, ShardOffset, SourceOffset, StreamOffset
from spark_kinesis._times import instant, parsed
from spark_kinesis.tools.facts.losses import (
    SHARD_EXPIRED,
    StreamTimes,
    created_again,
    dated,
    loss_at,
)
from spark_kinesis.tools.facts.records import (
    Anchor,
    FirstRecords,
    StreamRecord,
    first_records,
    surroundings,
)
from spark_kinesis.tools.facts.streams import (
    Advance,
    ask_each,
    descendants,
    describe,
    full_id,
    ignore,
    list_shards,
)

from .plan import Target, rewound, settled

if TYPE_CHECKING:
    from mypy_boto3_kinesis import KinesisClient

    from spark_kinesis.tools.facts.streams import StreamShard

_BEGINNING = ShardOffset(progress=Progress.TRIM_HORIZON)
_NO_RECORDS = FirstRecords(records=(), is_complete=True)


class Effect(Enum):
    """What happens to the records that the stream still has.

    ``AGAIN``: some that the query has read come again. ``SKIPPED``: it never reads some.
    ``NOTHING``: none lies between the positions. ``UNPROVEN``: the search ended too early.
    """

    AGAIN = "again"
    SKIPPED = "skipped"
    NOTHING = "nothing"
    UNPROVEN = "unproven"


@dataclass(frozen=True, kw_only=True)
class Change:
    """What a move does to a shard.

    Attributes:
        before: the old position. ``None`` if the query had read the whole shard, or had not begun
            to read it.
        loss: a sentence about records that have expired, or may have. ``None`` without a loss.
    """

    shard: str  # ID of the shard
    before: ShardOffset | None
    after: ShardOffset | None  # the new position. ``None`` if the query reads nothing of the shard.
    effect: Effect  # what happens to the records between them that the stream still has
    first: StreamRecord | None = None  # the first of these records. ``None`` without such a record.
    until: StreamRecord | None = None  # the first record after them. ``None`` if there is none yet.
    loss: str | None = None

    @property
    def words(self) -> str:
        """What happens to the shard."""
        if self.loss is None:
            return self._rest
        if self.effect is Effect.SKIPPED and self.first is None:
            return f"LOST: {self.loss}"
        return f"LOST: {self.loss}. For the records that are left: {self._rest}"

    @property
    def _rest(self) -> str:
        if self.effect is Effect.NOTHING:
            return "no record is skipped or comes again"
        if self.effect is Effect.UNPROVEN or self.first is None:
            return "unknown: the search ended before it found a record"
        verb = "come again" if self.effect is Effect.AGAIN else "are skipped"
        until = "" if self.until is None else f", until {self.until.sequence_number}"
        first = f"{self.first.sequence_number} ({instant(self.first.arrived)})"
        return f"records {verb} from {first} on{until}"

    @property
    def document(self) -> dict[str, Any]:
        """The change for the note and for machines."""
        return {
            "shard": self.shard,
            "before": None if self.before is None else self.before.place,
            "after": None if self.after is None else self.after.place,
            "effect": self.effect.value,
            "loss": self.loss,
            "first": _record(self.first),
            "until": _record(self.until),
        }


def _record(record: StreamRecord | None) -> dict[str, str] | None:
    if record is None:
        return None
    return {"sequenceNumber": str(record.sequence_number), "arrived": instant(record.arrived)}


@dataclass(frozen=True, kw_only=True)
class Move:
    """The new position of a query, and what happens to the shards that move, by stream."""

    offset: SourceOffset
    changes: dict[str, list[Change]]

    @property
    def is_unproven(self) -> bool:
        """Whether it is unknown what happens in a shard."""
        return any(it.effect is Effect.UNPROVEN for it in self.all_changes)

    @property
    def is_lossy(self) -> bool:
        """Whether records have expired, or may have, that the query has not read or would read."""
        return any(it.loss is not None for it in self.all_changes)

    @property
    def all_changes(self) -> list[Change]:
        """The changes of all streams."""
        return [it for changes in self.changes.values() for it in changes]


def move(
    client: KinesisClient,
    offset: SourceOffset,
    target: Target,
    *,
    arns: Collection[str],
    shards: Collection[str] = (),
    advance: Advance = ignore,
) -> Move:
    """Plan a move, and read the records around it. Changes nothing."""
    if shards and len(arns) != 1:
        raise CheckpointError("the query reads several streams: name that of the shard by --stream")
    streams = dict(offset.streams)
    changes = {}
    for arn in arns:
        streams[arn], changes[arn] = _move(client, arn, streams[arn], target, shards, advance)
    return Move(offset=SourceOffset(streams=streams), changes=changes)


def _move(  # noqa: PLR0917 the arguments of its caller
    client: KinesisClient,
    arn: str,
    offset: StreamOffset,
    target: Target,
    shards: Collection[str],
    advance: Advance,
) -> tuple[StreamOffset, list[Change]]:
    found = describe(client, arn)
    again = created_again(arn, found.created, parsed(offset.created))
    if again is not None:
        raise CheckpointError(f"{again} Start the query with a new checkpoint.")
    listed = {it.id: it for it in list_shards(client, arn)}
    times = StreamTimes.of(found)
    chosen = [full_id(listed, it) for it in shards]
    new = rewound(offset, list(listed.values()), target, times, chosen)
    old = settled(offset).shards
    later = unread(listed, old)
    places = [
        Places(
            shard=name,
            before=old.get(name),
            after=new.shards.get(name),
            is_later=name in later,
            listed=listed.get(name),
        )
        for name in changed(old, new.shards, later)
    ]
    changes = ask_each(lambda it: examine(client, arn, it, times), places, advance)
    after = {it.shard: it.after for it in changes if it.after is not None}
    return replace(new, shards={**new.shards, **after}), changes


def unread(shards: Mapping[str, StreamShard], old: Mapping[str, ShardOffset]) -> set[str]:
    """The listed shards that the query would have reached later: no position, and not read."""
    return descendants(shards, old) - set(old)


def changed(
    old: Mapping[str, ShardOffset], new: Mapping[str, ShardOffset], later: set[str]
) -> list[str]:
    """The shards whose position changes, by ID. It also changes if only its time does.

    A new position at the beginning of a shard that the query would have reached later is none.
    """

    def differs(name: str) -> bool:
        before, after = old.get(name), new.get(name)
        if before is None and name in later:
            return after is not None and after.progress is not Progress.TRIM_HORIZON
        return before is None or after is None or before.text != after.text

    return [name for name in sorted({*old, *new}) if differs(name)]


@dataclass(frozen=True, kw_only=True)
class Places:
    """The old and the new position of a shard, as in ``Change``."""

    shard: str  # ID of the shard
    listed: StreamShard | None  # the shard, if the stream still has it
    before: ShardOffset | None  # the old position
    after: ShardOffset | None  # the new position
    is_later: bool  # whether the query had not begun to read the shard


def examine(
    client: KinesisClient,
    arn: str,
    places: Places,
    times: StreamTimes,
    *,
    sleep: Callable[[float], None] = time.sleep,
) -> Change:
    """Read the first record after the old and after the new position.

    The new position in the result says up to when the shard was read, if a record shows it.
    """
    name, shard, before, after = places.shard, places.listed, places.before, places.after
    if shard is None:
        return Change(
            shard=name, before=before, after=after, effect=Effect.SKIPPED, loss=SHARD_EXPIRED
        )
    old = _BEGINNING if before is None and places.is_later else before
    first = _NO_RECORDS
    if old is not None:
        first = first_records(client, arn, name, old, count=1, sleep=sleep)
    found = None if after is None else surroundings(client, arn, shard, after, sleep=sleep)
    # At the old position, the query would fail. At the new one it would not notice the loss.
    loss = None if before is None else loss_at(before, None, times)
    if loss is None and after is not None and found is not None:
        is_unknown = found.anchor is Anchor.UNKNOWN  # then the effect is unproven
        loss = None if is_unknown else loss_at(after, found, times)
    return replace(
        compare(
            name,
            before,
            None if after is None else dated(after, found, times),
            first,
            _NO_RECORDS if found is None else found.unread,
        ),
        loss=loss,
    )


def compare(
    shard: str,
    before: ShardOffset | None,
    after: ShardOffset | None,
    old: FirstRecords,
    new: FirstRecords,
) -> Change:
    """What lies between two positions of a shard, by the first records after them."""
    made = Change(shard=shard, before=before, after=after, effect=Effect.NOTHING)
    if not all(it.records or it.is_complete for it in (old, new)):
        return replace(made, effect=Effect.UNPROVEN)
    old_number = None if old.first is None else old.first.sequence_number
    new_number = None if new.first is None else new.first.sequence_number
    if old_number == new_number:
        return made
    if new_number is not None and (old_number is None or new_number < old_number):
        return replace(made, effect=Effect.AGAIN, first=new.first, until=old.first)
    return replace(made, effect=Effect.SKIPPED, first=old.first, until=new.first)
