"""What `spark-kinesis tail` shows of records, and where it begins."""

from __future__ import annotations

from datetime import datetime, timedelta, timezone
from typing import Any

import pytest
from aws_kinesis_agg.aggregator import RecordAggregator
from hypothesis import given
from hypothesis import strategies as st

from spark_kinesis._offsets import Progress, ShardOffset
from spark_kinesis.tools.changes import LATEST, read_target
from spark_kinesis.tools.facts.streams import StreamShard
from spark_kinesis.tools.tailing import (
    Row,
    cut,
    first_shards,
    line,
    pages_of,
    rows_of,
    shown,
)

NOW = datetime(2026, 11, 23, 12, tzinfo=timezone.utc)
SHARD = "shardId-000000000007"
TRIM_HORIZON = ShardOffset(progress=Progress.TRIM_HORIZON)


def record(key: str | None, data: bytes, age: float = 1.5) -> dict[str, Any]:
    found: dict[str, Any] = {
        "SequenceNumber": "12",
        "ApproximateArrivalTimestamp": NOW - timedelta(seconds=age),
        "Data": data,
    }
    return found if key is None else {**found, "PartitionKey": key}


def only(key: str | None, data: bytes, age: float = 1.5) -> Row:
    (row,) = rows_of(SHARD, record(key, data, age))
    return row


def test_a_record_is_a_line() -> None:
    assert line(only("ann", b'{"a": 1}'), NOW).split() == [
        *("1.5s", "7", "8", "B", "ann", '{"a":', "1}")
    ]
    assert line(only(None, b"x", 150), NOW).split() == ["2.5m", "7", "1", "B", "-", "x"]
    assert line(only("k" * 50, b"", 7200), NOW).split()[-1] == "k" * 17 + "..."
    assert line(only("k", b"", 7200), NOW).split()[0] == "2.0h"
    assert line(only("k", b"", -5), NOW).split()[0] == "0.0s"  # clocks differ


def test_data_is_text_or_hexadecimal() -> None:
    assert shown(b"abc") == "abc"
    assert shown(b"a" * 300) == "a" * 197 + "..."
    assert shown("é".encode()) == "é"
    assert shown(b"\xff\x00\x01") == "0xff0001"


@given(st.binary(max_size=30) | st.text(max_size=30).map(str.encode))
def test_data_never_steers_the_terminal(data: bytes) -> None:
    assert shown(data).isprintable()


def test_escapes_are_shown() -> None:
    assert cut("a\x1b[2Jb\n", 20) == "a\\x1b[2Jb\\n"


def aggregated() -> dict[str, Any]:
    library = RecordAggregator()
    library.add_user_record("ann", b"one")
    library.add_user_record("bob", b"two", "5")
    key, _, data = library.clear_and_get().get_contents()
    return record(key, data)


def test_rows_of_an_aggregate_are_lines() -> None:
    one, two = rows_of(SHARD, aggregated())
    assert line(two, NOW).split() == ["1.5s", "7", "3", "B", "bob", "two"]
    assert (one.sub, one.key, one.data, two.sub) == (0, "ann", b"one", 1)


def shard(name: str, *parents: str, ending: int | None = None) -> StreamShard:
    return StreamShard(id=name, parents=parents, first_key=0, last_key=1, starting=1, ending=ending)


SHARDS = [
    shard("shardId-000000000001", "shardId-000000000000", ending=9),  # its parent has expired
    shard("shardId-000000000002", "shardId-000000000001"),
    shard("shardId-000000000003"),
]


def test_reading_begins_with_the_oldest_shards_or_with_the_open_ones() -> None:
    latest, oldest = LATEST, TRIM_HORIZON
    assert [it[-1] for it in first_shards("s", SHARDS, latest, ())] == ["2", "3"]
    assert [it[-1] for it in first_shards("s", SHARDS, oldest, ())] == ["1", "3"]
    chosen = ("02", "shardId-000000000001")
    assert [it[-1] for it in first_shards("s", SHARDS, oldest, chosen)] == ["2", "1"]
    with pytest.raises(ValueError, match=r"000001 of stream s is closed and receives"):
        first_shards("s", SHARDS, latest, ("1",))
    with pytest.raises(ValueError, match=r"stream s has no shard '9'\. Its shards: shardId-0"):
        first_shards("s", SHARDS, latest, ("9",))


@pytest.mark.parametrize(
    ("text", "position"),
    [
        (" LATEST ", LATEST),
        ("Trim_Horizon", TRIM_HORIZON),
        ("earliest", TRIM_HORIZON),
        ("2026-11-23T12:00+00:00", ShardOffset(progress=Progress.AT, time="2026-11-23T12:00:00Z")),
        ("2026-11-23T12:00:00Z", ShardOffset(progress=Progress.AT, time="2026-11-23T12:00:00Z")),
        ("1795435200000", ShardOffset(progress=Progress.AT, time="2026-11-23T12:00:00Z")),
    ],
)
def test_a_start_is_parsed(text: str, position: ShardOffset) -> None:
    assert read_target(text) == position


@pytest.mark.parametrize("text", ["", "10", "yesterday", "2026-11-23T12:00:00", "10y"])
def test_another_start_is_refused(text: str) -> None:
    with pytest.raises(ValueError, match="is not trim_horizon, latest, or a time with a time"):
        read_target(text)


class Closing:
    """A stream whose shards are closed and empty, and announce these children with all parents."""

    def __init__(self, children: dict[str, dict[str, list[str]]]) -> None:
        self.children = children

    def get_shard_iterator(self, **request: Any) -> Any:
        return {"ShardIterator": request["ShardId"]}

    def get_records(self, **request: Any) -> Any:
        born = self.children.get(request["ShardIterator"], {})
        children = [{"ShardId": it, "ParentShards": parents} for it, parents in born.items()]
        return {"Records": [], "MillisBehindLatest": 0, "ChildShards": children}


def read(children: dict[str, dict[str, list[str]]], *first: str, **more: bool) -> list[str]:
    """The order in which shards are read."""
    client: Any = Closing(children)
    steps = iter(range(1000))
    pages = pages_of(
        client, "arn", TRIM_HORIZON, first, now=lambda: next(steps), sleep=lambda _: None, **more
    )
    return [shard for shard, _ in pages]


def test_a_child_waits_for_both_parents() -> None:
    merged = {"c": ["a", "b"]}
    assert read({"a": merged, "b": merged, "c": {"d": ["c"], "e": ["c"]}}, "a", "b") == [*"abcde"]


def test_a_child_waits_for_a_parent_that_is_not_known_yet() -> None:
    # a is split into c and d while it is read; d is merged with b, which ends first.
    merged = {"e": ["d", "b"]}
    assert read({"b": merged, "a": {"c": ["a"], "d": ["a"]}, "d": merged}, "b", "a") == [*"bacde"]


def test_chosen_shards_are_read_without_their_children() -> None:
    assert read({"a": {"c": ["a"]}}, "a", with_children=False) == ["a"]
