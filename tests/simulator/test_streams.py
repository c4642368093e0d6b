"""Streams: created, listed, described, deleted; and wrong calls."""

from __future__ import annotations

import datetime as dt
from collections.abc import Callable
from typing import Any

from tests.simulator.calls import REGION, client_of, code_of, iterator


def test_the_stream_of_the_command_line_exists(kinesis: Any) -> None:
    summary = kinesis.describe_stream_summary(StreamName="given")["StreamDescriptionSummary"]
    assert summary["StreamStatus"] == "ACTIVE"
    assert summary["OpenShardCount"] == 3
    assert summary["RetentionPeriodHours"] == 24
    assert summary["StreamARN"] == f"arn:aws:kinesis:{REGION}:000000000000:stream/given"
    age = dt.datetime.now(dt.timezone.utc) - summary["StreamCreationTimestamp"]
    assert dt.timedelta(0) <= age < dt.timedelta(hours=1)


def test_streams_are_created_listed_described_and_deleted(
    kinesis: Any, make_stream: Callable[[int], str]
) -> None:
    made = [make_stream(1) for _ in range(3)]
    pages = kinesis.get_paginator("list_streams").paginate(PaginationConfig={"PageSize": 2})
    listed = [name for page in pages for name in page["StreamNames"]]
    assert listed == sorted(listed)
    assert set(made) < set(listed)
    description = kinesis.describe_stream(StreamName=made[0])["StreamDescription"]
    assert len(description["Shards"]) == 1
    assert not description["HasMoreShards"]
    kinesis.delete_stream(StreamARN=description["StreamARN"])
    kinesis.get_waiter("stream_not_exists").wait(StreamName=made[0])
    assert made[0] not in kinesis.list_streams()["StreamNames"]


def test_regions_are_separate(endpoint: str, kinesis: Any) -> None:
    abroad = client_of(endpoint, "eu-west-1")
    abroad.create_stream(StreamName="abroad", ShardCount=1)
    assert abroad.list_streams()["StreamNames"] == ["abroad"]
    assert "abroad" not in kinesis.list_streams()["StreamNames"]
    arn = abroad.describe_stream_summary(StreamName="abroad")["StreamDescriptionSummary"]
    assert ":eu-west-1:" in arn["StreamARN"]


def test_failures_have_the_error_codes_of_the_service(
    kinesis: Any, make_stream: Callable[[int], str]
) -> None:
    stream, shard = make_stream(2), "shardId-000000000000"
    first = iterator(kinesis, stream, shard)
    failures: list[tuple[str, Callable[[], Any]]] = [
        (
            "ResourceNotFoundException",
            lambda: kinesis.put_record(StreamName="none", Data=b"", PartitionKey="k"),
        ),
        (
            "ResourceNotFoundException",
            lambda: iterator(kinesis, stream, "shardId-000000000009"),
        ),
        (
            "ResourceInUseException",
            lambda: kinesis.create_stream(StreamName=stream, ShardCount=1),
        ),
        (
            "LimitExceededException",
            lambda: kinesis.create_stream(StreamName="huge", ShardCount=100000),
        ),
        (
            "InvalidArgumentException",
            lambda: kinesis.get_records(ShardIterator="no iterator"),
        ),
        (
            "ValidationException",
            lambda: kinesis.get_records(ShardIterator=first, Limit=10001),
        ),
        (
            "InvalidArgumentException",
            lambda: iterator(
                kinesis, stream, shard, "AT_SEQUENCE_NUMBER", StartingSequenceNumber="17"
            ),
        ),
        (
            "InvalidArgumentException",
            lambda: kinesis.update_shard_count(
                StreamName=stream, TargetShardCount=5, ScalingType="UNIFORM_SCALING"
            ),
        ),
        (
            "InvalidArgumentException",
            lambda: kinesis.merge_shards(
                StreamName=stream, ShardToMerge=shard, AdjacentShardToMerge=shard
            ),
        ),
        ("InvalidArgumentException", kinesis.describe_stream_summary),
    ]
    for code, call in failures:
        assert code_of(call) == code
