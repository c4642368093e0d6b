"""What a move skips, and what comes again."""

from __future__ import annotations

from typing import Any

import pytest

from python.tests.migrate.streams import NOW, shard, shard_id
from spark_kinesis.checkpoint import Progress, ShardOffset, SourceOffset
from spark_kinesis.rewind.effects import Change, Effect, Places, changed, compare, examine, unread
from spark_kinesis.rewind.move import Move
from spark_kinesis.stream import FirstRecords, StreamRecord

OLDEST = ShardOffset(progress=Progress.TRIM_HORIZON)


def record(number: int | None) -> StreamRecord | None:
    if number is None:
        return None
    return StreamRecord(sequence_number=number, arrived=NOW, key="k", data=b"")


def found(number: int | None, *, is_complete: bool = True) -> FirstRecords:
    first = record(number)
    return FirstRecords(records=() if first is None else (first,), is_complete=is_complete)


class Shard:
    """A client of a shard whose pages are empty after some positions, and never reach its end."""

    def __init__(self, first: dict[str, int]) -> None:
        self.first = first
        self.pages = 0

    def get_shard_iterator(self, **request: str) -> dict[str, str]:
        kind = request["ShardIteratorType"]
        return {"ShardIterator": request.get("StartingSequenceNumber", kind)}

    def get_records(self, **request: Any) -> dict[str, Any]:
        self.pages += 1
        place = request["ShardIterator"]
        number = self.first.get(place)
        records = [] if number is None else [served(number)]
        return {"Records": records, "NextShardIterator": place, "MillisBehindLatest": 1000}


def served(number: int) -> dict[str, Any]:
    return {
        "SequenceNumber": str(number),
        "ApproximateArrivalTimestamp": NOW,
        "PartitionKey": "k",
        "Data": b"",
    }


def examined(
    first: dict[str, int], before: ShardOffset | None, new: ShardOffset | None, **about: bool
) -> Change:
    settings = {"is_later": False, "is_listed": True, **about}
    places = Places(shard="shard", before=before, after=new, **settings)
    client: Any = Shard(first)
    return examine(client, "arn", places, sleep=lambda _: None)


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


@pytest.mark.parametrize(("old", "new"), [(None, None), (10, None), (None, 10)])
def test_a_search_without_an_answer_proves_nothing(old: int | None, new: int | None) -> None:
    unknown = found(None, is_complete=False)
    first, second = (unknown if it is None else found(it) for it in (old, new))
    got = compare("shard", after(1), after(2), first, second)
    assert (got.effect, got.first, got.until) == (Effect.UNPROVEN, None, None)


def test_the_records_after_both_positions_are_read() -> None:
    got = examined({"1": 10, "TRIM_HORIZON": 5}, after(1), OLDEST)
    assert (got.effect, got.first, got.until) == (Effect.AGAIN, record(5), record(10))


def test_empty_pages_without_an_end_prove_nothing() -> None:
    assert examined({}, after(1), after(2)).effect is Effect.UNPROVEN
    assert examined({"1": 10}, after(1), after(2)).effect is Effect.UNPROVEN


def test_a_shard_without_a_position_is_read_to_its_end_or_not_at_all() -> None:
    got = examined({"2": 10}, None, after(2))
    assert (got.effect, got.first, got.until) == (Effect.AGAIN, record(10), None)
    got = examined({"TRIM_HORIZON": 5, "2": 10}, None, after(2), is_later=True)
    assert (got.effect, got.first, got.until) == (Effect.SKIPPED, record(5), record(10))


def test_an_expired_shard_is_skipped() -> None:
    assert examined({}, after(1), None, is_listed=False).effect is Effect.SKIPPED


def test_a_move_is_unproven_if_one_of_its_shards_is() -> None:
    def moved(*effects: Effect) -> Move:
        changes = [Change(shard="s", before=None, after=None, effect=it) for it in effects]
        return Move(offset=SourceOffset(), changes={"arn": [], "other": changes})

    assert moved(Effect.NOTHING, Effect.UNPROVEN).is_unproven
    assert not moved(Effect.NOTHING, Effect.AGAIN).is_unproven
