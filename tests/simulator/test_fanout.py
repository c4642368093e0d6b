"""Enhanced fan-out with boto3: consumers, and events in AWS's event stream format."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from typing import Any

import pytest
from botocore.exceptions import EventStreamError

from tests.simulator.calls import KEY_SPACE, code_of, shards


def register(kinesis: Any, stream: str, name: str = "reader") -> tuple[str, str]:
    """The ARNs of the stream and of a new consumer of it."""
    summary = kinesis.describe_stream_summary(StreamName=stream)["StreamDescriptionSummary"]
    arn = summary["StreamARN"]
    made = kinesis.register_stream_consumer(StreamARN=arn, ConsumerName=name)["Consumer"]
    return arn, str(made["ConsumerARN"])


def subscribe(kinesis: Any, consumer: str, shard: str, **position: Any) -> Iterator[dict[str, Any]]:
    """The events of a subscription."""
    start = position or {"Type": "TRIM_HORIZON"}
    answer = kinesis.subscribe_to_shard(ConsumerARN=consumer, ShardId=shard, StartingPosition=start)
    for event in answer["EventStream"]:
        yield event["SubscribeToShardEvent"]


def test_consumers(kinesis: Any, make_stream: Callable[[int], str]) -> None:
    stream = make_stream(1)
    arn, consumer = register(kinesis, stream)
    assert consumer.startswith(f"{arn}/consumer/reader:")
    described = kinesis.describe_stream_consumer(ConsumerARN=consumer)["ConsumerDescription"]
    assert described["ConsumerStatus"] == "ACTIVE"
    assert described["StreamARN"] == arn
    by_name = kinesis.describe_stream_consumer(StreamARN=arn, ConsumerName="reader")
    assert by_name["ConsumerDescription"] == described
    summary = kinesis.describe_stream_summary(StreamARN=arn)["StreamDescriptionSummary"]
    assert summary["ConsumerCount"] == 1
    second = int(consumer.rpartition(":")[2])
    assert int(described["ConsumerCreationTimestamp"].timestamp()) == second
    listed = kinesis.get_paginator("list_stream_consumers").paginate(
        StreamARN=arn, PaginationConfig={"PageSize": 1}
    )
    assert [c["ConsumerName"] for page in listed for c in page["Consumers"]] == ["reader"]
    kinesis.deregister_stream_consumer(ConsumerARN=consumer)
    assert (
        code_of(lambda: kinesis.describe_stream_consumer(ConsumerARN=consumer))
        == "ResourceNotFoundException"
    )


def test_a_stream_with_consumers_is_deleted_only_by_force(
    kinesis: Any, make_stream: Callable[[int], str]
) -> None:
    stream = make_stream(1)
    register(kinesis, stream)
    assert code_of(lambda: kinesis.delete_stream(StreamName=stream)) == "ResourceInUseException"
    kinesis.delete_stream(StreamName=stream, EnforceConsumerDeletion=True)


def test_events_across_a_split(kinesis: Any, make_stream: Callable[[int], str]) -> None:
    stream = make_stream(1)
    _, consumer = register(kinesis, stream)
    parent = shards(kinesis, stream)[0]["ShardId"]
    kinesis.put_record(StreamName=stream, PartitionKey="k", Data=b"\x00\xff1")
    events = subscribe(kinesis, consumer, parent)
    first = next(events)
    assert [r["Data"] for r in first["Records"]] == [b"\x00\xff1"]
    assert first["ContinuationSequenceNumber"] == first["Records"][0]["SequenceNumber"]
    kinesis.put_record(StreamName=stream, PartitionKey="k", Data=b"2")
    second = next(it for it in events if it["Records"])  # an idle shard sends empty events
    assert [r["Data"] for r in second["Records"]] == [b"2"]
    kinesis.split_shard(
        StreamName=stream, ShardToSplit=parent, NewStartingHashKey=str(KEY_SPACE // 2)
    )
    *_, last = list(events)
    assert "ContinuationSequenceNumber" not in last
    assert [c["ParentShards"] for c in last["ChildShards"]] == [[parent], [parent]]
    after = first["ContinuationSequenceNumber"]
    for child in last["ChildShards"]:
        assert child["ShardId"] in [s["ShardId"] for s in shards(kinesis, stream)]
    _, other = register(kinesis, stream, "other")
    again = subscribe(kinesis, other, parent, Type="AFTER_SEQUENCE_NUMBER", SequenceNumber=after)
    assert [r["Data"] for event in again for r in event["Records"]] == [b"2"]


def test_a_second_subscription_is_refused(kinesis: Any, make_stream: Callable[[int], str]) -> None:
    stream = make_stream(1)
    _, consumer = register(kinesis, stream)
    shard = shards(kinesis, stream)[0]["ShardId"]

    def call() -> Any:
        return kinesis.subscribe_to_shard(
            ConsumerARN=consumer, ShardId=shard, StartingPosition={"Type": "LATEST"}
        )

    call()
    assert code_of(call) == "ResourceInUseException"


def test_a_subscription_ends_with_its_consumer(
    kinesis: Any, make_stream: Callable[[int], str]
) -> None:
    stream = make_stream(1)
    _, consumer = register(kinesis, stream)
    kinesis.put_record(StreamName=stream, PartitionKey="k", Data=b"1")
    events = subscribe(kinesis, consumer, shards(kinesis, stream)[0]["ShardId"])
    assert next(events)["MillisBehindLatest"] == 0
    kinesis.deregister_stream_consumer(ConsumerARN=consumer)
    with pytest.raises(EventStreamError, match="ResourceNotFoundException"):
        list(events)


@pytest.mark.parametrize(
    "change",
    [
        {"ConsumerARN": "nonsense"},
        {"StartingPosition": {"Type": "NOWHERE"}},
        {"ShardId": "a/b"},
    ],
)
def test_impossible_requests_are_refused(
    kinesis: Any, make_stream: Callable[[int], str], change: dict[str, Any]
) -> None:
    stream = make_stream(1)
    _, consumer = register(kinesis, stream)
    call = {
        "ConsumerARN": consumer,
        "ShardId": "shardId-000000000000",
        "StartingPosition": {"Type": "LATEST"},
    }
    assert code_of(lambda: kinesis.subscribe_to_shard(**(call | change))) == "ValidationException"
