"""Regions and accounts: each has its own streams and limits."""

from __future__ import annotations

import uuid
from functools import partial
from typing import Any

from tests.simulator.calls import REGION, client_of, code_of


def test_a_key_id_of_twelve_digits_is_the_account(endpoint: str, kinesis: Any) -> None:
    account = client_of(endpoint, account="111122223333")
    name = f"account-{uuid.uuid4().hex[:12]}"
    account.create_stream(StreamName=name, ShardCount=1)
    assert account.list_streams()["StreamNames"] == [name]
    assert name not in kinesis.list_streams()["StreamNames"]
    summary = account.describe_stream_summary(StreamName=name)["StreamDescriptionSummary"]
    assert summary["StreamARN"] == f"arn:aws:kinesis:{REGION}:111122223333:stream/{name}"
    assert kinesis.describe_stream_summary(StreamARN=summary["StreamARN"])
    missing = code_of(lambda: kinesis.describe_stream_summary(StreamName=name))
    assert missing == "ResourceNotFoundException"


def test_each_account_and_region_has_its_own_limits(endpoint: str) -> None:
    kinesis = client_of(endpoint, region="ap-south-1")
    empty = kinesis.describe_limits()
    assert (empty["OpenShardCount"], empty["OnDemandStreamCount"]) == (0, 0)
    assert (empty["ShardLimit"], empty["OnDemandStreamCountLimit"]) == (10000, 50)
    kinesis.create_stream(StreamName="three", ShardCount=3)
    kinesis.create_stream(StreamName="more", StreamModeDetails={"StreamMode": "ON_DEMAND"})
    limits = kinesis.describe_limits()
    assert (limits["OpenShardCount"], limits["OnDemandStreamCount"]) == (7, 1)


def test_streams_are_listed_page_by_page(endpoint: str) -> None:
    kinesis = client_of(endpoint, region="sa-east-1")
    names = [f"stream-{i}" for i in range(5)]
    for name in names:
        kinesis.create_stream(StreamName=name, ShardCount=1)
    first = kinesis.list_streams(Limit=2)
    assert first["StreamNames"] == names[:2]
    assert [s["StreamName"] for s in first["StreamSummaries"]] == names[:2]
    assert first["HasMoreStreams"]
    second = kinesis.list_streams(Limit=2, NextToken=first["NextToken"])
    assert second["StreamNames"] == names[2:4]
    last = kinesis.list_streams(ExclusiveStartStreamName=second["StreamNames"][-1])
    assert last["StreamNames"] == names[4:]
    assert not last["HasMoreStreams"]
    assert "NextToken" not in last
    pages = kinesis.get_paginator("list_streams").paginate(
        ExclusiveStartStreamName=names[0], PaginationConfig={"PageSize": 1}
    )
    assert [name for page in pages for name in page["StreamNames"]] == names[1:]
    foreign = client_of(endpoint)
    for token in (first["NextToken"], "nonsense"):
        refused = code_of(partial(foreign.list_streams, NextToken=token))
        assert refused == "InvalidArgumentException"


def test_at_most_a_hundred_shards_are_described_at_once(endpoint: str) -> None:
    kinesis = client_of(endpoint, region="ca-central-1")
    kinesis.create_stream(StreamName="wide", ShardCount=130)
    first = kinesis.describe_stream(StreamName="wide", Limit=10000)["StreamDescription"]
    assert len(first["Shards"]) == 100
    assert first["HasMoreShards"]
    rest = kinesis.describe_stream(
        StreamName="wide", ExclusiveStartShardId=first["Shards"][-1]["ShardId"]
    )["StreamDescription"]
    assert len(rest["Shards"]) == 30
    assert not rest["HasMoreShards"]
    pages = kinesis.get_paginator("describe_stream").paginate(
        StreamName="wide", PaginationConfig={"PageSize": 50}
    )
    found = [s["ShardId"] for page in pages for s in page["StreamDescription"]["Shards"]]
    assert found == [f"shardId-{i:012d}" for i in range(130)]
