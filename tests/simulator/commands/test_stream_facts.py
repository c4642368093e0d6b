"""What `spark_kinesis.tools.facts` says about the streams of the local Kinesis."""

from __future__ import annotations

from collections.abc import Callable
from datetime import timedelta
from typing import Any

import pytest

from spark_kinesis._offsets import Progress, ShardOffset
from spark_kinesis.tools.facts.lags import Probe, probe
from spark_kinesis.tools.facts.records import iterator_request
from spark_kinesis.tools.facts.streams import HASH_KEYS, describe, list_shards

START = ShardOffset(progress=Progress.TRIM_HORIZON)


def test_a_stream_is_described_by_name_and_by_arn(
    kinesis: Any, make_stream: Callable[[int], str]
) -> None:
    name = make_stream(3)
    found = describe(kinesis, name)
    assert (found.name, found.status, found.open_shards) == (name, "ACTIVE", 3)
    assert (found.mode, found.retention) == ("PROVISIONED", timedelta(days=1))
    assert found.key is None
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

    def first(position: ShardOffset) -> str:
        place = {"StreamARN": arn, "ShardId": shard, **iterator_request(position)}
        iterator = kinesis.get_shard_iterator(**place)["ShardIterator"]
        return str(kinesis.get_records(ShardIterator=iterator)["Records"][0]["SequenceNumber"])

    assert probe(kinesis, arn, shard, START) == Probe(behind=timedelta(), arrived=None)
    numbers = [
        kinesis.put_record(StreamName=name, PartitionKey="k", Data=b"x")["SequenceNumber"]
        for _ in range(3)
    ]
    after = ShardOffset(progress=Progress.AFTER, sequence_number=int(numbers[0]))
    since = ShardOffset(progress=Progress.FROM, sequence_number=int(numbers[2]))
    timed = ShardOffset(progress=Progress.AT, time="2020-01-01T00:00:00Z")
    found = [first(it) for it in (START, after, since, timed)]
    assert found == [numbers[0], numbers[1], numbers[2], numbers[0]]
    assert probe(kinesis, arn, shard, since).arrived is not None
    finished = ShardOffset(progress=Progress.FINISHED)
    assert probe(kinesis, arn, "expired", finished) == Probe(behind=timedelta(), arrived=None)


def test_an_expired_shard_is_refused(kinesis: Any) -> None:
    with pytest.raises(kinesis.exceptions.ResourceNotFoundException):
        probe(kinesis, describe(kinesis, "given").arn, "shardId-000000000099", START)
