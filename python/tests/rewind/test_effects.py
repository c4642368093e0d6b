"""What a move skips, and what comes again."""

from __future__ import annotations

from dataclasses import replace
from datetime import timedelta
from typing import Any

import pytest

from python.tests.migrate.streams import NOW, TIMES, shard, shard_id
from spark_kinesis._offsets import Progress, ShardOffset, SourceOffset
from spark_kinesis.tools.facts.losses import SHARD_EXPIRED, StreamTimes, at_time
from spark_kinesis.tools.facts.records import FirstRecords, StreamRecord
from spark_kinesis.tools.rewinding.effects import (
    Change,
    Effect,
    Move,
    Places,
    changed,
    compare,
    examine,
    unread,
)

OLDEST = ShardOffset(progress=Progress.TRIM_HORIZON)


def record(number: int | None) -> StreamRecord | None:
    if number is None:
        return None
    return StreamRecord(sequence_number=number, arrived=NOW, key="k", data=b"")


def found(number: int | None, *, is_complete: bool = True) -> FirstRecords:
    first = record(number)
    return FirstRecords(records=() if first is None else (first,), is_complete=is_complete)


class Shard:
    """A client of a shard. After its records, its pages are empty, and never reach its end."""

    def __init__(self, *numbers: int) -> None:
        self.numbers = numbers

    def get_shard_iterator(self, **request: str) -> dict[str, str]:
        number = int(request.get("StartingSequenceNumber", 0))
        is_after = request["ShardIteratorType"] == "AFTER_SEQUENCE_NUMBER"
        return {"ShardIterator": str(number + 1 if is_after else number)}

    def get_records(self, **request: Any) -> dict[str, Any]:
        first = int(request["ShardIterator"])
        numbers = [it for it in self.numbers if it >= first][: request["Limit"]]
        following = str(max([first, *(it + 1 for it in numbers)]))
        records = [served(it) for it in numbers]
        return {"Records": records, "NextShardIterator": following, "MillisBehindLatest": 1000}


def served(number: int) -> dict[str, Any]:
    return {
        "SequenceNumber": str(number),
        "ApproximateArrivalTimestamp": NOW,
        "PartitionKey": "k",
        "Data": b"",
    }


def examined(
    numbers: tuple[int, ...],
    before: ShardOffset | None,
    new: ShardOffset | None,
    *,
    is_later: bool = False,
    is_listed: bool = True,
    times: StreamTimes = TIMES,
) -> Change:
    """What a move does in a closed shard with the sequence numbers from 0 to 99."""
    one = shard(0, is_open=False)
    places = Places(
        shard=one.id,
        listed=one if is_listed else None,
        before=before,
        after=new,
        is_later=is_later,
    )
    client: Any = Shard(*numbers)
    return examine(client, "arn", places, times, sleep=lambda _: None)


def after(number: int) -> ShardOffset:
    return ShardOffset(progress=Progress.AFTER, sequence_number=number)


@pytest.mark.parametrize(
    ("old", "new", "effect", "first", "until"),
    [
        (20, 10, Effect.AGAIN, 10, 20),
        (None, 10, Effect.AGAIN, 10, None),
        (10, 20, Effect.SKIPPED, 10, 20),
        (10, None, Effect.SKIPPED, 10, None),
        (10, 10, Effect.NOTHING, None, None),
        (None, None, Effect.NOTHING, None, None),
    ],
)
def test_records_between_two_positions(
    old: int | None, new: int | None, effect: Effect, first: int | None, until: int | None
) -> None:
    got = compare("shard", after(1), after(2), found(old), found(new))
    assert (got.effect, got.first, got.until) == (effect, record(first), record(until))


def test_shards_that_move() -> None:
    listed = {it.id: it for it in (shard(0, is_open=False), shard(1, 0), shard(2), shard(3))}
    old = {shard_id(0): after(50), shard_id(2): after(250), shard_id(3): after(350)}
    later = unread(listed, old)
    assert later == {shard_id(1)}
    assert changed(old, {**old, shard_id(1): OLDEST}, later) == []
    assert changed(old, {**old, shard_id(1): after(150)}, later) == [shard_id(1)]
    assert changed(old, {**old, shard_id(2): OLDEST}, later) == [shard_id(2)]
    assert changed(old, {shard_id(0): after(50), shard_id(3): after(350)}, later) == [shard_id(2)]
    assert changed({shard_id(2): after(250)}, {shard_id(0): OLDEST}, set()) == [
        shard_id(0),
        shard_id(2),
    ]
    dated = replace(OLDEST, complete_as_of=NOW - timedelta(days=3))
    assert changed({shard_id(2): dated}, {shard_id(2): OLDEST}, set()) == [shard_id(2)]
    assert changed({shard_id(2): dated}, {shard_id(2): dated}, set()) == []


@pytest.mark.parametrize(("old", "new"), [(None, None), (10, None), (None, 10)])
def test_a_search_without_an_answer_proves_nothing(old: int | None, new: int | None) -> None:
    unknown = found(None, is_complete=False)
    first, second = (unknown if it is None else found(it) for it in (old, new))
    got = compare("shard", after(1), after(2), first, second)
    assert (got.effect, got.first, got.until) == (Effect.UNPROVEN, None, None)


def test_the_records_after_both_positions_are_read() -> None:
    got = examined((5, 10), after(5), OLDEST)
    assert (got.effect, got.first, got.until) == (Effect.AGAIN, record(5), record(10))


def test_empty_pages_without_an_end_prove_nothing() -> None:
    assert examined((), after(1), after(2)).effect is Effect.UNPROVEN
    assert examined((5, 10), after(5), after(10)).effect is Effect.UNPROVEN


def test_a_shard_without_a_position_is_read_to_its_end_or_not_at_all() -> None:
    got = examined((5, 10), None, after(5))
    assert (got.effect, got.first, got.until) == (Effect.AGAIN, record(10), None)
    got = examined((5, 10), None, after(5), is_later=True)
    assert (got.effect, got.first, got.until) == (Effect.SKIPPED, record(5), record(10))


def test_an_expired_shard_is_lost() -> None:
    got = examined((), after(1), None, is_listed=False)
    assert (got.effect, got.loss) == (Effect.SKIPPED, SHARD_EXPIRED)


def test_a_record_that_is_there_says_up_to_when_the_shard_was_read() -> None:
    for new in (after(5), replace(after(5), progress=Progress.FROM)):
        got = examined((5, 10, 20), after(10), new)
        assert (got.loss, got.after) == (None, replace(new, complete_as_of=NOW))


def test_a_record_that_is_gone_is_a_loss() -> None:
    got = examined((5, 10, 20), after(10), after(4))
    assert (got.effect, got.first) == (Effect.AGAIN, record(5))
    assert got.loss == "record 4 is gone, and unread records after it may have expired"
    # The numbers at which the shard begins and ends need not belong to records.
    assert examined((5, 10, 20), after(10), after(0)).loss is None
    assert examined((5, 10, 20), after(10), after(99)).loss is None


@pytest.mark.parametrize(("age", "is_lost"), [(23, False), (24, True), (25, True)])
def test_positions_older_than_the_retention_period_are_a_loss(age: int, *, is_lost: bool) -> None:
    old = NOW - timedelta(hours=age)
    read = replace(after(5), complete_as_of=old)
    for new in (OLDEST, at_time(NOW, TIMES), None):
        assert (examined((5, 10), read, new).loss is not None) is is_lost
    fresh = replace(read, complete_as_of=NOW)
    assert (examined((5, 10), fresh, at_time(old, TIMES)).loss is not None) is is_lost
    assert examined((5, 10), fresh, OLDEST).loss is None


def test_a_record_older_than_the_retention_period_is_as_good_as_gone() -> None:
    late = replace(TIMES, now=NOW + timedelta(days=2), horizon=NOW + timedelta(days=1))
    got = examined((5, 10), after(10), after(5), times=late)
    assert got.loss is not None
    assert got.after == after(5)


def test_a_stream_that_is_younger_than_its_retention_period_has_lost_nothing() -> None:
    young = replace(TIMES, created=NOW - timedelta(hours=1))
    made = at_time(NOW - timedelta(days=3), young)
    assert made.complete_as_of == young.created
    assert at_time(NOW - timedelta(days=3), TIMES).complete_as_of is None


def test_a_move_is_unproven_if_one_of_its_shards_is() -> None:
    def moved(*effects: Effect) -> Move:
        changes = [Change(shard="s", before=None, after=None, effect=it) for it in effects]
        return Move(offset=SourceOffset(), changes={"arn": [], "other": changes})

    assert moved(Effect.NOTHING, Effect.UNPROVEN).is_unproven
    assert not moved(Effect.NOTHING, Effect.AGAIN).is_unproven
