"""What a move skips, and what comes again."""

from __future__ import annotations

import time
from collections.abc import Callable, Mapping
from dataclasses import dataclass, replace
from enum import Enum
from typing import TYPE_CHECKING

from spark_kinesis.checkpoint import Progress, ShardOffset
from spark_kinesis.stream import FirstRecords, StreamRecord, first_records
from spark_kinesis.stream.anchor import surroundings
from spark_kinesis.stream.lineage import descendants

from .losses import SHARD_EXPIRED, dated, loss_at

if TYPE_CHECKING:
    from mypy_boto3_kinesis import KinesisClient

    from spark_kinesis.stream import StreamShard
    from spark_kinesis.stream.times import StreamTimes


_BEGINNING = ShardOffset(progress=Progress.TRIM_HORIZON)
_NO_RECORDS = FirstRecords(records=(), is_complete=True)


class Effect(Enum):
    """What happens to the records that the stream still has."""

    AGAIN = "again"
    """The query has read some records, and reads them again."""

    SKIPPED = "skipped"
    """The query never reads some records."""

    NOTHING = "nothing"
    """No record lies between the old and the new position."""

    UNPROVEN = "unproven"
    """The search ended before it found a record."""


@dataclass(frozen=True, kw_only=True)
class Change:
    """What a move does to a shard.

    Attributes:
        shard: ID of the shard.
        before: the old position. ``None`` if the query had read the whole shard, or had not begun
            to read it.
        after: the new position. ``None`` if the query reads nothing of the shard.
        effect: what happens to the records between them that the stream still has.
        first: the first of these records. ``None`` without such a record.
        until: the first record after them. ``None`` if there is none yet.
        loss: a sentence about records that have expired, or may have. ``None`` without a loss.
    """

    shard: str
    before: ShardOffset | None
    after: ShardOffset | None
    effect: Effect
    first: StreamRecord | None = None
    until: StreamRecord | None = None
    loss: str | None = None


def unread(shards: Mapping[str, StreamShard], old: Mapping[str, ShardOffset]) -> set[str]:
    """The listed shards that the query would have reached later: no position, and not read."""
    return descendants(shards, old) - set(old)


def changed(
    old: Mapping[str, ShardOffset], new: Mapping[str, ShardOffset], later: set[str]
) -> list[str]:
    """The shards whose position changes, by ID. It also changes if only its time does.

    Args:
        old: the old positions.
        new: the new positions.
        later: the result of ``unread``. A new position at the beginning of one of these is none.
    """
    names = sorted({*old, *new})
    return [
        name for name in names if _differs(old.get(name), new.get(name), is_later=name in later)
    ]


def _differs(old: ShardOffset | None, new: ShardOffset | None, *, is_later: bool) -> bool:
    if old is None and is_later:
        return new is not None and new.progress is not Progress.TRIM_HORIZON
    return old is None or new is None or old.text != new.text


def compare(
    shard: str,
    before: ShardOffset | None,
    after: ShardOffset | None,
    old: FirstRecords,
    new: FirstRecords,
) -> Change:
    """What lies between two positions of a shard.

    Args:
        shard: ID of the shard.
        before: the old position.
        after: the new position.
        old: the first record after the old position.
        new: the first record after the new position.
    """
    if not _is_answer(old) or not _is_answer(new):
        return Change(shard=shard, before=before, after=after, effect=Effect.UNPROVEN)
    old_first, new_first = next(iter(old.records), None), next(iter(new.records), None)
    old_number = None if old_first is None else old_first.sequence_number
    new_number = None if new_first is None else new_first.sequence_number
    if old_number == new_number:
        return Change(shard=shard, before=before, after=after, effect=Effect.NOTHING)
    is_again = new_number is not None and (old_number is None or new_number < old_number)
    return Change(
        shard=shard,
        before=before,
        after=after,
        effect=Effect.AGAIN if is_again else Effect.SKIPPED,
        first=new_first if is_again else old_first,
        until=old_first if is_again else new_first,
    )


def _is_answer(found: FirstRecords) -> bool:
    return bool(found.records) or found.is_complete


@dataclass(frozen=True, kw_only=True)
class Places:
    """The old and the new position of a shard.

    Attributes:
        shard: ID of the shard.
        listed: the shard, if the stream still has it.
        before: the old position, as in ``Change``.
        after: the new position, as in ``Change``.
        is_later: whether the query had not begun to read the shard.
    """

    shard: str
    listed: StreamShard | None
    before: ShardOffset | None
    after: ShardOffset | None
    is_later: bool


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

    Args:
        client: client of Kinesis.
        arn: ARN of the stream.
        places: the positions.
        times: the service's time.
        sleep: waits a number of seconds between two reads.

    Raises:
        botocore.exceptions.ClientError: if a call fails.
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
    change = compare(
        name,
        before,
        dated(after, found, times),
        first,
        _NO_RECORDS if found is None else found.unread,
    )
    return replace(change, loss=loss_at(before, after, found, times))
