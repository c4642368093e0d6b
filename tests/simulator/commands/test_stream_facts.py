"""What `spark_kinesis.tools.facts` says about the streams of the local Kinesis."""

from __future__ import annotations

from collections.abc import Callable
from datetime import timedelta
from typing import Any

import pytest

from spark_kinesis._offsets import Progress, ShardOffset
from spark_kinesis.tools.facts.lags import probe
from spark_kinesis.tools.facts.streams import HASH_KEYS, describe, list_shards

START = ShardOffset(progress=Progress.TRIM_HORIZON)


def test_a_stream_is_described_by_name_and_by_arn(
    kinesis: Any, make_stream: Callable[[int], str]
) -> None:
    name = make_stream(3)
    found = describe(kinesis, name)
    assert (found.name, found.status, found.open_shards) == (name, "ACTIVE", 3)
    assert (found.mode, found.retention) == ("PROVISIONED", timedelta(days=1))
    assert (found.key, found.consumers, found.shard_metrics) == (None, 0, ())
    assert describe(kinesis, found.arn) == found


def test_shards_know_their_parents_and_hash_keys(
    kinesis: Any, make_stream: Callable[[int], str]
) -> None:
    name = make_stream(1)
    kinesis.split_shard(
        StreamName=name,
        ShardToSplit="shardId-000000000000",
        NewStartingHashKey=str(HASH_KEYS // 4),
    )
    kinesis.get_waiter("stream_exists").wait(StreamName=name)
    parent, *children = list_shards(kinesis, name)
    assert not parent.is_open
    assert parent.share == 1
    assert [it.share for it in children] == [0.25, 0.75]
    assert {it.parents for it in children} == {(parent.id,)}
    assert all(it.is_open for it in children)
    assert list_shards(kinesis, describe(kinesis, name).arn) == [parent, *children]


def test_a_probe_finds_the_first_record_after_a_position(
    kinesis: Any, make_stream: Callable[[int], str]
) -> None:
    name = make_stream(1)
    arn = describe(kinesis, name).arn
    shard = "shardId-000000000000"
    nothing = probe(kinesis, arn, shard, START)
    assert (nothing.arrived, nothing.sequence_number, nothing.is_end) == (None, None, False)
    numbers = [
        int(kinesis.put_record(StreamName=name, PartitionKey="k", Data=b"x")["SequenceNumber"])
        for _ in range(3)
    ]
    assert probe(kinesis, arn, shard, START).sequence_number == numbers[0]
    after = ShardOffset(progress=Progress.AFTER, sequence_number=numbers[0])
    assert probe(kinesis, arn, shard, after).sequence_number == numbers[1]
    since = ShardOffset(progress=Progress.FROM, sequence_number=numbers[2])
    found = probe(kinesis, arn, shard, since)
    assert (found.sequence_number, found.behind, found.is_end) == (numbers[2], timedelta(), False)
    assert found.arrived is not None
    timed = ShardOffset(progress=Progress.AT, time="2020-01-01T00:00:00Z")
    assert probe(kinesis, arn, shard, timed).sequence_number == numbers[0]


def test_a_closed_shard_has_an_end(kinesis: Any, make_stream: Callable[[int], str]) -> None:
    name = make_stream(1)
    arn = describe(kinesis, name).arn
    kinesis.split_shard(
        StreamName=name,
        ShardToSplit="shardId-000000000000",
        NewStartingHashKey=str(HASH_KEYS // 2),
    )
    kinesis.get_waiter("stream_exists").wait(StreamName=name)
    assert probe(kinesis, arn, "shardId-000000000000", START).is_end
    assert not probe(kinesis, arn, "shardId-000000000001", START).is_end
    assert probe(kinesis, arn, "expired", ShardOffset(progress=Progress.FINISHED)).is_end


def test_an_expired_shard_is_refused(kinesis: Any) -> None:
    with pytest.raises(kinesis.exceptions.ResourceNotFoundException):
        probe(kinesis, describe(kinesis, "given").arn, "shardId-000000000099", START)
