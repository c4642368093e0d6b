"""What `spark-kinesis tail` shows of records, and where it begins."""

from __future__ import annotations

import json
from datetime import datetime, timedelta, timezone
from typing import Any

import pytest
from aws_kinesis_agg.aggregator import RecordAggregator
from hypothesis import given
from hypothesis import strategies as st

from spark_kinesis.tools.cli import print_json
from spark_kinesis.tools.facts.streams import StreamShard
from spark_kinesis.tools.tailing import (
    Lineage,
    Row,
    as_json,
    cut,
    first_shards,
    line,
    parse_start,
    rows_of,
    shown,
)

NOW = datetime(2026, 11, 23, 12, tzinfo=timezone.utc)
SHARD = "shardId-000000000007"


def record(key: str | None, data: bytes, age: float = 1.5) -> dict[str, Any]:
    found: dict[str, Any] = {
        "SequenceNumber": "12",
        "ApproximateArrivalTimestamp": NOW - timedelta(seconds=age),
        "Data": data,
    }
    return found if key is None else {**found, "PartitionKey": key}


def only(key: str | None, data: bytes, age: float = 1.5) -> Row:
    (row,) = rows_of(SHARD, record(key, data, age), is_raw=False)
    return row


def test_a_record_is_a_line() -> None:
    assert line(only("ann", b'{"a": 1}'), NOW, 100).split() == [
        *("1.5s", "7", "8", "B", "ann", '{"a":', "1}")
    ]
    assert line(only(None, b"x", 150), NOW, 100).split() == ["2.5m", "7", "1", "B", "-", "x"]
    assert line(only("k" * 50, b"", 7200), NOW, 100).split()[-1] == "k" * 17 + "..."
    assert line(only("k", b"", 7200), NOW, 100).split()[0] == "2.0h"
    assert line(only("k", b"", -5), NOW, 100).split()[0] == "0.0s"  # clocks differ


def test_data_is_text_or_hexadecimal() -> None:
    assert shown(b"abc", 3) == "abc"
    assert shown(b"abcdefgh", 6) == "abc..."
    assert shown("é".encode(), 10) == "é"
    assert shown(b"\xff\x00\x01", 10) == "0xff0001"
    assert shown(b"\xff" * 10, 8) == "0xffffffff..."


@given(st.binary(max_size=30) | st.text(max_size=30).map(str.encode), st.integers(4, 40))
def test_data_never_steers_the_terminal(data: bytes, width: int) -> None:
    assert shown(data, width).isprintable()


def test_escapes_are_shown() -> None:
    assert cut("a\x1b[2Jb\n", 20) == "a\\x1b[2Jb\\n"


def aggregated() -> dict[str, Any]:
    library = RecordAggregator()
    library.add_user_record("ann", b"one")
    library.add_user_record("bob", b"two", "5")
    key, _, data = library.clear_and_get().get_contents()
    return record(key, data)


def test_rows_of_an_aggregate_are_lines() -> None:
    one, two = rows_of(SHARD, aggregated(), is_raw=False)
    assert line(two, NOW, 100).endswith("bob                   [2/2 by aggregation library] two")
    assert (one.sub, one.key, one.data) == (0, "ann", b"one")
    assert (two.sub, two.hash_key) == (1, "5")


def test_a_raw_aggregate_is_a_line() -> None:
    (row,) = rows_of(SHARD, aggregated(), is_raw=True)
    assert (row.rows, row.sub, row.key) == (2, None, "ann")
    assert "[2 rows by aggregation library] 0xf3899ac2" in line(row, NOW, 100)


def test_a_row_is_json(capsys: pytest.CaptureFixture[str]) -> None:
    _, two = rows_of(SHARD, aggregated(), is_raw=False)
    print_json(as_json(two))
    assert json.loads(capsys.readouterr().out) == {
        "arrived": "2026-11-23T11:59:58.500000Z",
        "shard": SHARD,
        "sequenceNumber": "12",
        "subSequenceNumber": 1,
        "rows": 2,
        "maker": "aggregation library",
        "partitionKey": "bob",
        "explicitHashKey": "5",
        "bytes": 3,
        "data": "dHdv",
        "text": "two",
    }
    assert as_json(only("k", b"\xff"))["text"] is None


def shard(name: str, *parents: str, ending: int | None = None) -> StreamShard:
    return StreamShard(id=name, parents=parents, first_key=0, last_key=1, starting=1, ending=ending)


SHARDS = [
    shard("shardId-000000000001", "shardId-000000000000", ending=9),  # its parent has expired
    shard("shardId-000000000002", "shardId-000000000001"),
    shard("shardId-000000000003"),
]


def test_reading_begins_with_the_oldest_shards_or_with_the_open_ones() -> None:
    latest = parse_start("LATEST", NOW)
    oldest = parse_start("trim_horizon", NOW)
    assert [it[-1] for it in first_shards("s", SHARDS, latest, ())] == ["2", "3"]
    assert [it[-1] for it in first_shards("s", SHARDS, oldest, ())] == ["1", "3"]
    chosen = ("02", "shardId-000000000001")
    assert [it[-1] for it in first_shards("s", SHARDS, oldest, chosen)] == ["2", "1"]
    with pytest.raises(ValueError, match=r"000001 of stream s is closed .* children \(shardId-0+2"):
        first_shards("s", SHARDS, latest, ("1",))
    with pytest.raises(ValueError, match=r"stream s has no shard '9'\. Its shards: shardId-0"):
        first_shards("s", SHARDS, latest, ("9",))


@pytest.mark.parametrize(
    ("text", "request_"),
    [
        ("latest", {"ShardIteratorType": "LATEST"}),
        ("Trim_Horizon", {"ShardIteratorType": "TRIM_HORIZON"}),
        (
            "10m",
            {"ShardIteratorType": "AT_TIMESTAMP", "Timestamp": NOW - timedelta(minutes=10)},
        ),
        (
            "2026-11-23T12:00+00:00",
            {"ShardIteratorType": "AT_TIMESTAMP", "Timestamp": NOW},
        ),
        ("2026-11-23T12:00:00Z", {"ShardIteratorType": "AT_TIMESTAMP", "Timestamp": NOW}),
        ("1795435200000", {"ShardIteratorType": "AT_TIMESTAMP", "Timestamp": NOW}),
    ],
)
def test_a_start_is_parsed(text: str, request_: dict[str, object]) -> None:
    assert parse_start(text, NOW) == request_


@pytest.mark.parametrize("text", ["", "10", "yesterday", "2026-11-23T12:00:00", "10y"])
def test_another_start_is_refused(text: str) -> None:
    with pytest.raises(
        ValueError,
        match="the start must be latest, trim_horizon, a time with a time zone",
    ):
        parse_start(text, NOW)


def test_a_child_waits_for_both_parents() -> None:
    lineage = Lineage(["a", "b"], waits_for_all=True)
    assert lineage.end("a", {"c": ["a", "b"]}) == []
    assert lineage.end("b", {"c": ["a", "b"]}) == ["c"]
    assert lineage.end("c", {"d": ["c"], "e": ["c"]}) == ["d", "e"]


def test_a_child_waits_for_a_parent_that_is_not_known_yet() -> None:
    # a is split into c and d while it is read; d is merged with b, which ends first.
    lineage = Lineage(["a", "b"], waits_for_all=True)
    assert lineage.end("b", {"e": ["d", "b"]}) == []
    assert lineage.end("a", {"c": ["a"], "d": ["a"]}) == ["c", "d"]
    assert lineage.end("d", {"e": ["d", "b"]}) == ["e"]


def test_a_chosen_shard_does_not_wait_for_others() -> None:
    lineage = Lineage(["a"], waits_for_all=False)
    assert lineage.end("a", {"c": ["a", "b"]}) == ["c"]
