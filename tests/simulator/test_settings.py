"""Settings of a stream: retention, encryption, record size, mode, distribution, metrics."""

from __future__ import annotations

import uuid
from collections.abc import Callable
from functools import partial
from typing import Any

import pytest

from tests.simulator.calls import code_of, read, shards

METRICS = [
    "IncomingBytes",
    "IncomingRecords",
    "OutgoingBytes",
    "OutgoingRecords",
    "WriteProvisionedThroughputExceeded",
    "ReadProvisionedThroughputExceeded",
    "IteratorAgeMilliseconds",
]


def summary(kinesis: Any, stream: str) -> dict[str, Any]:
    """The answer of `DescribeStreamSummary`."""
    answer = kinesis.describe_stream_summary(StreamName=stream)
    return dict(answer["StreamDescriptionSummary"])


def arn(kinesis: Any, stream: str) -> str:
    """The ARN of a stream."""
    return str(summary(kinesis, stream)["StreamARN"])


@pytest.fixture
def on_demand(kinesis: Any) -> str:
    """A new on-demand stream."""
    name = f"on-demand-{uuid.uuid4().hex[:12]}"
    kinesis.create_stream(StreamName=name, StreamModeDetails={"StreamMode": "ON_DEMAND"})
    return name


def test_a_new_stream_has_the_settings_of_aws(
    kinesis: Any, make_stream: Callable[[int], str]
) -> None:
    stream = make_stream(1)
    described = summary(kinesis, stream)
    assert described["RetentionPeriodHours"] == 24
    assert described["EncryptionType"] == "NONE"
    assert "KeyId" not in described
    assert described["EnhancedMonitoring"] == [{"ShardLevelMetrics": []}]
    assert described["StreamModeDetails"] == {"StreamMode": "PROVISIONED"}
    assert described["MaxRecordSizeInKiB"] == 1024
    assert "RecordDistributionStrategy" not in described


def test_create_stream_accepts_all_settings(kinesis: Any) -> None:
    name = f"full-{uuid.uuid4().hex[:12]}"
    kinesis.create_stream(
        StreamName=name,
        StreamModeDetails={"StreamMode": "ON_DEMAND"},
        MaxRecordSizeInKiB=3000,
        RecordDistributionStrategy="AUTO",
        Tags={"team": "data"},
    )
    described = summary(kinesis, name)
    assert described["OpenShardCount"] == 4
    assert described["MaxRecordSizeInKiB"] == 3000
    assert described["RecordDistributionStrategy"] == "AUTO"
    tags = kinesis.list_tags_for_stream(StreamName=name)["Tags"]
    assert tags == [{"Key": "team", "Value": "data"}]


@pytest.mark.parametrize(
    ("code", "wrong"),
    [
        ("ValidationException", {"ShardCount": 0}),
        ("ValidationException", {}),
        ("ValidationException", {"ShardCount": 1, "MaxRecordSizeInKiB": 1023}),
        ("ValidationException", {"ShardCount": 1, "MaxRecordSizeInKiB": 10241}),
        (
            "ValidationException",
            {"ShardCount": 1, "StreamModeDetails": {"StreamMode": "NONE"}},
        ),
        (
            "ValidationException",
            {"ShardCount": 1, "RecordDistributionStrategy": "NONE"},
        ),
        (
            "InvalidArgumentException",
            {"ShardCount": 1, "RecordDistributionStrategy": "AUTO"},
        ),
        ("InvalidArgumentException", {"ShardCount": 1, "Tags": {"a?": "b"}}),
        ("InvalidArgumentException", {"ShardCount": 1, "Tags": {"aws:a": "b"}}),
        (
            "InvalidArgumentException",
            {"ShardCount": 1, "Tags": {f"key-{i}": "v" for i in range(51)}},
        ),
    ],
)
def test_create_stream_refuses_wrong_settings(
    unchecked: Any, code: str, wrong: dict[str, Any]
) -> None:
    assert code_of(lambda: unchecked.create_stream(StreamName="wrong", **wrong)) == code
    assert "wrong" not in unchecked.list_streams()["StreamNames"]


def test_retention(kinesis: Any, make_stream: Callable[[int], str]) -> None:
    stream = make_stream(1)
    increase, decrease = (
        kinesis.increase_stream_retention_period,
        kinesis.decrease_stream_retention_period,
    )
    increase(StreamName=stream, RetentionPeriodHours=8760)
    assert summary(kinesis, stream)["RetentionPeriodHours"] == 8760
    decrease(StreamARN=arn(kinesis, stream), RetentionPeriodHours=25)
    described = kinesis.describe_stream(StreamName=stream)["StreamDescription"]
    assert described["RetentionPeriodHours"] == 25
    wrong = [
        (increase, 24),
        (increase, 8761),
        (increase, 0),
        (decrease, 26),
        (decrease, 23),
    ]
    for change, hours in wrong:
        refused = code_of(partial(change, StreamName=stream, RetentionPeriodHours=hours))
        assert refused == "InvalidArgumentException", (change, hours)
    missing = code_of(lambda: increase(StreamName="none", RetentionPeriodHours=48))
    assert missing == "ResourceNotFoundException"


def test_encryption(kinesis: Any, make_stream: Callable[[int], str]) -> None:
    stream = make_stream(1)
    put: dict[str, Any] = {"StreamName": stream, "Data": b"v", "PartitionKey": "k"}
    assert "EncryptionType" not in kinesis.put_record(**put)
    key = {"StreamName": stream, "EncryptionType": "KMS", "KeyId": "alias/aws/kinesis"}
    kinesis.start_stream_encryption(**key)
    assert kinesis.put_record(**put)["EncryptionType"] == "KMS"
    entry = {"Data": b"v", "PartitionKey": "k"}
    many = kinesis.put_records(StreamName=stream, Records=[entry])
    assert many["EncryptionType"] == "KMS"
    described = summary(kinesis, stream)
    assert (described["EncryptionType"], described["KeyId"]) == (
        "KMS",
        "alias/aws/kinesis",
    )
    kinesis.stop_stream_encryption(**key)
    assert "EncryptionType" not in kinesis.put_record(**put)
    described = summary(kinesis, stream)
    assert described["EncryptionType"] == "NONE"
    assert "KeyId" not in described
    found = [r.get("EncryptionType") for r in read(kinesis, stream, "shardId-000000000000")]
    assert found == [None, "KMS", "KMS", None]
    for call in (kinesis.start_stream_encryption, kinesis.stop_stream_encryption):
        none = {**key, "EncryptionType": "NONE"}
        assert code_of(partial(call, **none)) == "InvalidArgumentException"


def test_max_record_size(kinesis: Any, make_stream: Callable[[int], str]) -> None:
    stream = make_stream(1)
    put = {"StreamName": stream, "Data": b"x" * (3 * 2**20 - 1), "PartitionKey": "k"}
    assert code_of(lambda: kinesis.put_record(**put)) == "InvalidArgumentException"
    kinesis.update_max_record_size(StreamARN=arn(kinesis, stream), MaxRecordSizeInKiB=3072)
    assert summary(kinesis, stream)["MaxRecordSizeInKiB"] == 3072
    kinesis.put_record(**put)
    (record,) = read(kinesis, stream, "shardId-000000000000")
    assert record["Data"] == put["Data"]
    longer = {**put, "PartitionKey": "kk"}
    assert code_of(lambda: kinesis.put_record(**longer)) == "InvalidArgumentException"


def test_the_record_size_has_bounds(
    unchecked: Any, kinesis: Any, make_stream: Callable[[int], str]
) -> None:
    stream = arn(kinesis, make_stream(1))
    for size in (1023, 10241, -1):
        change = partial(unchecked.update_max_record_size, StreamARN=stream)
        refused = code_of(partial(change, MaxRecordSizeInKiB=size))
        assert refused == "ValidationException"


def test_modes(kinesis: Any, on_demand: str) -> None:
    assert len(shards(kinesis, on_demand)) == 4
    described = summary(kinesis, on_demand)
    assert described["StreamModeDetails"] == {"StreamMode": "ON_DEMAND"}
    assert described["RecordDistributionStrategy"] == "USER_PARTITION_KEY"
    calls: list[Callable[[], Any]] = [
        lambda: kinesis.update_shard_count(
            StreamName=on_demand, TargetShardCount=8, ScalingType="UNIFORM_SCALING"
        ),
        lambda: kinesis.split_shard(
            StreamName=on_demand,
            ShardToSplit="shardId-000000000000",
            NewStartingHashKey="1000",
        ),
        lambda: kinesis.merge_shards(
            StreamName=on_demand,
            ShardToMerge="shardId-000000000000",
            AdjacentShardToMerge="shardId-000000000001",
        ),
    ]
    for call in calls:
        assert code_of(call) == "ValidationException"
    kinesis.update_stream_mode(
        StreamARN=described["StreamARN"],
        StreamModeDetails={"StreamMode": "PROVISIONED"},
    )
    calls[1]()
    assert summary(kinesis, on_demand)["OpenShardCount"] == 5


def test_auto_distribution_needs_no_key(kinesis: Any, on_demand: str) -> None:
    unkeyed: list[dict[str, Any]] = [{"Data": b"%d" % i} for i in range(8)]
    refused = code_of(lambda: kinesis.put_records(StreamName=on_demand, Records=unkeyed))
    assert refused == "ValidationException"
    stream = arn(kinesis, on_demand)
    kinesis.update_stream_record_distribution_strategy(
        StreamARN=stream, RecordDistributionStrategy="AUTO"
    )
    assert summary(kinesis, on_demand)["RecordDistributionStrategy"] == "AUTO"
    keyed = [{"Data": b"k", "PartitionKey": "k", "ExplicitHashKey": "0"} for _ in range(4)]
    answer = kinesis.put_records(StreamName=on_demand, Records=unkeyed + keyed)
    assert answer["FailedRecordCount"] == 0
    names = [r["ShardId"] for r in answer["Records"]]
    assert {names.count(name) for name in set(names)} == {3}
    for name in set(names):
        keys = [r.get("PartitionKey") for r in read(kinesis, on_demand, name)]
        assert keys == [None, None, "k"]
    assert kinesis.put_record(StreamName=on_demand, Data=b"alone")["ShardId"] in names


def test_auto_distribution_is_for_on_demand_streams(
    kinesis: Any, make_stream: Callable[[int], str]
) -> None:
    stream = arn(kinesis, make_stream(1))
    refused = code_of(
        lambda: kinesis.update_stream_record_distribution_strategy(
            StreamARN=stream, RecordDistributionStrategy="AUTO"
        )
    )
    assert refused == "InvalidArgumentException"


def test_enhanced_monitoring(
    kinesis: Any, unchecked: Any, make_stream: Callable[[int], str]
) -> None:
    stream = make_stream(1)
    two = ["OutgoingBytes", "IncomingBytes"]
    enabled = kinesis.enable_enhanced_monitoring(StreamName=stream, ShardLevelMetrics=two)
    assert enabled["StreamName"] == stream
    assert enabled["StreamARN"] == arn(kinesis, stream)
    assert enabled["CurrentShardLevelMetrics"] == []
    assert sorted(enabled["DesiredShardLevelMetrics"]) == sorted(two)
    (described,) = summary(kinesis, stream)["EnhancedMonitoring"]
    assert sorted(described["ShardLevelMetrics"]) == sorted(two)
    every = kinesis.enable_enhanced_monitoring(StreamName=stream, ShardLevelMetrics=["ALL"])
    assert sorted(every["DesiredShardLevelMetrics"]) == sorted(METRICS)
    fewer = kinesis.disable_enhanced_monitoring(StreamName=stream, ShardLevelMetrics=METRICS[1:])
    assert sorted(fewer["CurrentShardLevelMetrics"]) == sorted(METRICS)
    assert fewer["DesiredShardLevelMetrics"] == METRICS[:1]
    for wrong in ([], ["Nothing"]):
        enable = partial(unchecked.enable_enhanced_monitoring, StreamName=stream)
        refused = code_of(partial(enable, ShardLevelMetrics=wrong))
        assert refused == "ValidationException"
