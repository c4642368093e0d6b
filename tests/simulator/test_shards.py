"""Shards: split, merged, scaled, listed."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

from tests.simulator.calls import KEY_SPACE, code_of, iterator, shards


def test_split_and_merge_close_parents_and_name_children(
    kinesis: Any, make_stream: Callable[[int], str]
) -> None:
    stream = make_stream(1)
    kinesis.put_record(StreamName=stream, Data=b"before", PartitionKey="k")
    first = shards(kinesis, stream)[0]["ShardId"]
    kinesis.split_shard(
        StreamName=stream, ShardToSplit=first, NewStartingHashKey=str(KEY_SPACE // 2)
    )
    low, high = (s["ShardId"] for s in shards(kinesis, stream, Type="AT_LATEST"))
    end = kinesis.get_records(ShardIterator=iterator(kinesis, stream, first))
    assert [r["Data"] for r in end["Records"]] == [b"before"]
    assert "NextShardIterator" not in end
    assert {c["ShardId"] for c in end["ChildShards"]} == {low, high}
    assert all(c["ParentShards"] == [first] for c in end["ChildShards"])
    kinesis.merge_shards(StreamName=stream, ShardToMerge=low, AdjacentShardToMerge=high)
    (merged,) = shards(kinesis, stream, Type="AT_LATEST")
    assert (merged["ParentShardId"], merged["AdjacentParentShardId"]) == (low, high)
    assert merged["HashKeyRange"]["EndingHashKey"] == str(KEY_SPACE - 1)
    closed = [s for s in shards(kinesis, stream) if s["ShardId"] != merged["ShardId"]]
    assert all("EndingSequenceNumber" in s["SequenceNumberRange"] for s in closed)
    assert "EndingSequenceNumber" not in merged["SequenceNumberRange"]


def test_update_shard_count(kinesis: Any, make_stream: Callable[[int], str]) -> None:
    stream = make_stream(2)
    answer = kinesis.update_shard_count(
        StreamName=stream, TargetShardCount=3, ScalingType="UNIFORM_SCALING"
    )
    assert (answer["CurrentShardCount"], answer["TargetShardCount"]) == (2, 3)
    ranges = [s["HashKeyRange"] for s in shards(kinesis, stream, Type="AT_LATEST")]
    starts = sorted(int(r["StartingHashKey"]) for r in ranges)
    assert starts == [i * (KEY_SPACE // 3) for i in range(3)]


def test_shard_listing_filters_and_pages(kinesis: Any, make_stream: Callable[[int], str]) -> None:
    stream = make_stream(5)
    created = kinesis.describe_stream_summary(StreamName=stream)["StreamDescriptionSummary"][
        "StreamCreationTimestamp"
    ]
    for kind in ("AT_LATEST", "AT_TRIM_HORIZON", "FROM_TRIM_HORIZON"):
        assert len(shards(kinesis, stream, Type=kind)) == 5
    assert len(shards(kinesis, stream, Type="AFTER_SHARD_ID", ShardId="shardId-000000000002")) == 2
    for kind in ("AT_TIMESTAMP", "FROM_TIMESTAMP"):
        assert len(shards(kinesis, stream, Type=kind, Timestamp=created)) == 5
    pages = [kinesis.list_shards(StreamName=stream, MaxResults=2)]
    while "NextToken" in pages[-1]:
        pages.append(kinesis.list_shards(NextToken=pages[-1]["NextToken"], MaxResults=2))
    assert [len(page["Shards"]) for page in pages] == [2, 2, 1]
    after = kinesis.list_shards(StreamName=stream, ExclusiveStartShardId="shardId-000000000003")
    assert [s["ShardId"] for s in after["Shards"]] == ["shardId-000000000004"]
    token = kinesis.list_shards(StreamName=stream, MaxResults=2)["NextToken"]
    both = code_of(lambda: kinesis.list_shards(StreamName=stream, NextToken=token))
    assert both == "InvalidArgumentException"
