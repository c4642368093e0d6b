"""Records: written, read page by page, and found by iterators."""

from __future__ import annotations

import hashlib
from collections.abc import Callable
from typing import Any

import pytest

from tests.simulator.calls import KEY_SPACE, iterator, read


@pytest.mark.parametrize("data", [b"", b"text", bytes(range(256)), b"x" * (2**20 - 3)])
def test_a_record_is_read_as_it_was_written(
    kinesis: Any, make_stream: Callable[[int], str], data: bytes
) -> None:
    stream = make_stream(4)
    key = "鍵"
    put = kinesis.put_record(StreamName=stream, Data=data, PartitionKey=key)
    hash_key = int.from_bytes(hashlib.md5(key.encode()).digest(), "big")
    assert put["ShardId"] == f"shardId-{hash_key * 4 // KEY_SPACE:012d}"
    (record,) = read(kinesis, stream, put["ShardId"])
    assert record["Data"] == data
    assert record["PartitionKey"] == key
    assert record["SequenceNumber"] == put["SequenceNumber"]


def test_put_records_answers_in_order(kinesis: Any, make_stream: Callable[[int], str]) -> None:
    stream = make_stream(2)
    hash_keys = [0, KEY_SPACE - 1, 1, KEY_SPACE // 2]
    entries = [
        {"Data": str(key).encode(), "PartitionKey": "k", "ExplicitHashKey": str(key)}
        for key in hash_keys
    ]
    answer = kinesis.put_records(StreamName=stream, Records=entries)
    assert answer["FailedRecordCount"] == 0
    assert [r["ShardId"][-1] for r in answer["Records"]] == ["0", "1", "0", "1"]
    assert [r["Data"] for r in read(kinesis, stream, "shardId-000000000001")] == [
        str(KEY_SPACE - 1).encode(),
        str(KEY_SPACE // 2).encode(),
    ]


def test_iterators_of_all_five_types(kinesis: Any, make_stream: Callable[[int], str]) -> None:
    stream, shard = make_stream(1), "shardId-000000000000"
    numbers = [
        kinesis.put_record(StreamName=stream, Data=data, PartitionKey="k")["SequenceNumber"]
        for data in (b"a", b"b", b"c")
    ]
    arrival = read(kinesis, stream, shard)[0]["ApproximateArrivalTimestamp"]

    def data(kind: str, **more: Any) -> bytes:
        return b"".join(r["Data"] for r in read(kinesis, stream, shard, kind=kind, **more))

    assert data("TRIM_HORIZON") == b"abc"
    assert data("LATEST") == b""
    assert data("AT_SEQUENCE_NUMBER", StartingSequenceNumber=numbers[1]) == b"bc"
    assert data("AFTER_SEQUENCE_NUMBER", StartingSequenceNumber=numbers[1]) == b"c"
    assert data("AT_TIMESTAMP", Timestamp=arrival) == b"abc"
    assert data("AT_TIMESTAMP", Timestamp=0) == b"abc"


def test_pages_follow_each_other(kinesis: Any, make_stream: Callable[[int], str]) -> None:
    stream = make_stream(1)
    entries = [{"Data": b"%d" % i, "PartitionKey": "k"} for i in range(7)]
    kinesis.put_records(StreamName=stream, Records=entries)
    token = iterator(kinesis, stream, "shardId-000000000000")
    sizes, behind = [], []
    for _ in range(3):
        page = kinesis.get_records(ShardIterator=token, Limit=3)
        sizes.append(len(page["Records"]))
        behind.append(page["MillisBehindLatest"] > 0)
        token = page["NextShardIterator"]
    assert sizes == [3, 3, 1]
    assert behind == [True, True, False]
