"""Streams and records over HTTP: retries, pages and waiting."""

from __future__ import annotations

import sys
from collections.abc import Callable
from datetime import datetime, timezone

import pytest
from botocore.exceptions import ClientError

from python.tests.local.stub_server import Answer, Stub, refusal, shard
from spark_kinesis import LocalKinesisError, MissingPackageError, _retry
from spark_kinesis.local import LocalEndpoint, LocalKinesis


def status(word: str = "ACTIVE") -> Answer:
    return 200, {"StreamDescriptionSummary": {"StreamStatus": word}}


def listed(*shards: dict[str, object], more: bool = False) -> Answer:
    return 200, {"StreamDescription": {"Shards": list(shards), "HasMoreShards": more}}


def test_a_change_waits_until_the_stream_is_active(stub: Stub, kinesis: LocalEndpoint) -> None:
    stub.say("CreateStream", refusal("LimitExceededException"), (200, b""))
    stub.say("DescribeStreamSummary", status("CREATING"), (500, {}), status())
    kinesis.create("orders", 1)
    assert stub.bodies("CreateStream") == [{"StreamName": "orders", "ShardCount": 1}] * 2
    assert len(stub.bodies("DescribeStreamSummary")) == 3


def test_a_permanent_refusal_is_not_retried(stub: Stub, kinesis: LocalEndpoint) -> None:
    stub.say("CreateStream", refusal("ResourceInUseException"))
    with pytest.raises(ClientError, match=r"ResourceInUse.* CreateStream"):
        kinesis.create("orders", 1)
    assert len(stub.asked) == 1


def test_shards_and_streams_come_in_pages(stub: Stub, kinesis: LocalEndpoint) -> None:
    stub.say("DescribeStreamSummary", status())
    stub.say("DescribeStream", listed(shard(2), more=True), listed(shard(1, parent=0)))
    found = kinesis.shards("orders")
    first, second, third = (f"shardId-{number:012d}" for number in range(3))
    assert [(it.id, it.parents) for it in found] == [(second, (first,)), (third, ())]
    assert stub.bodies("DescribeStream")[1]["ExclusiveStartShardId"] == third
    pages = ({"StreamNames": ["a", "b"], "HasMoreStreams": True, "NextToken": "b"},)
    stub.say("ListStreams", (200, pages[0]), (200, {"StreamNames": ["c"], "HasMoreStreams": False}))
    assert kinesis.streams == ["a", "b", "c"]


@pytest.mark.parametrize(
    ("ask", "said"),
    [
        (lambda it: it.split("orders", "x"), "stream orders has no open shard x"),
        (lambda it: it.merge("orders"), "stream orders has no open shard above another one"),
    ],
)
def test_a_shard_that_is_not_there(
    stub: Stub, kinesis: LocalEndpoint, ask: Callable[[LocalEndpoint], object], said: str
) -> None:
    stub.say("DescribeStreamSummary", status())
    stub.say("DescribeStream", listed(shard(0)))
    with pytest.raises(ValueError, match=said):
        ask(kinesis)


def entry(*, throttled: bool = False) -> dict[str, str]:
    if throttled:
        return {"ErrorCode": "ProvisionedThroughputExceededException", "ErrorMessage": "No."}
    return {"ShardId": "shardId-000000000000", "SequenceNumber": "1"}


def test_only_refused_records_are_written_again(stub: Stub, kinesis: LocalEndpoint) -> None:
    stub.say(
        "PutRecords",
        (200, {"Records": [entry(), entry(throttled=True), entry()]}),
        refusal("ProvisionedThroughputExceededException"),
        (200, {"Records": [entry()]}),
    )
    assert kinesis.put("orders", ["a", b"b", ("k", "ü")]) == ["shardId-000000000000"] * 3
    sent = [[e["PartitionKey"] for e in b["Records"]] for b in stub.bodies("PutRecords")]
    assert sent == [["0", "1", "k"], ["1"], ["1"]]
    assert stub.bodies("PutRecords")[0]["Records"][2]["Data"] == "w7w="


def test_records_that_stay_refused_are_an_error(
    stub: Stub, kinesis: LocalEndpoint, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr("spark_kinesis.local._endpoint._PATIENCE_SECONDS", 0.0)
    stub.say("PutRecords", (200, {"Records": [entry(throttled=True)]}))
    with pytest.raises(LocalKinesisError, match=r"stream orders: 1 records .*ThroughputExceeded"):
        kinesis.put("orders", ["a"])


def test_requests_hold_500_records(stub: Stub, kinesis: LocalEndpoint) -> None:
    sizes = [500, 500, 1]
    stub.say("PutRecords", *((200, {"Records": [entry()] * size}) for size in sizes))
    assert len(kinesis.put("orders", map(str, range(1001)))) == 1001
    assert [len(body["Records"]) for body in stub.bodies("PutRecords")] == sizes
    assert kinesis.put("orders", []) == []


def page(*data: str, behind: int = 0, follows: str | None = "next") -> Answer:
    records = [
        {"Data": d, "PartitionKey": "k", "SequenceNumber": "1", "ApproximateArrivalTimestamp": 1.5}
        for d in data
    ]
    more = {} if follows is None else {"NextShardIterator": follows}
    return 200, {"Records": records, "MillisBehindLatest": behind, **more}


def test_a_shard_is_read_to_its_tip_or_end(stub: Stub, kinesis: LocalEndpoint) -> None:
    stub.say("DescribeStreamSummary", status())
    stub.say("DescribeStream", listed(shard(1, parent=0), shard(0)))
    stub.say("GetShardIterator", (200, {"ShardIterator": "first"}))
    stub.say(
        "GetRecords",
        page("YQ==", behind=9),
        page(behind=9),  # empty, and not the tip
        page("Yg==", follows=None),
        page("Yw=="),
        page(),
    )
    found = kinesis.records("orders")
    assert [(it.shard_id[-1], it.text) for it in found] == [("0", "a"), ("0", "b"), ("1", "c")]
    assert found[0].arrival == datetime(1970, 1, 1, 0, 0, 1, 500_000, tzinfo=timezone.utc)
    assert len(stub.bodies("GetRecords")) == 5


def test_an_endpoint_without_a_server_is_no_answer() -> None:
    with pytest.raises(LocalKinesisError, match=r"no answer from http://127.0.0.1:1: Conn"):
        LocalEndpoint("http://127.0.0.1:1").stats()


def test_a_local_kinesis_that_was_not_started() -> None:
    kinesis = LocalKinesis()
    assert not kinesis.is_running
    asks: list[Callable[[], object]] = [lambda: kinesis.endpoint, lambda: kinesis.streams]
    for ask in asks:
        with pytest.raises(LocalKinesisError, match=r"not running: call start\(\) first"):
            ask()


def test_only_streams_and_records_need_boto3(
    stub: Stub, kinesis: LocalEndpoint, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setitem(sys.modules, "boto3", None)
    advice = "LocalKinesis needs boto3: pip install boto3"
    asks: list[Callable[[], object]] = [lambda: kinesis.client, lambda: kinesis.put("orders", "a")]
    for ask in asks:
        with pytest.raises(MissingPackageError, match=advice):
            ask()
    assert kinesis.access["endpoint"] == kinesis.endpoint
    stub.say("DELETE /_simulator/stats", (200, {}))
    kinesis.reset_stats()
    assert kinesis.now.tzinfo is timezone.utc


def test_pauses_double_up_to_a_maximum() -> None:
    longest = [_retry.pause(attempt, lambda: 1.0) for attempt in range(20)]
    assert longest == sorted(longest)
    assert (longest[0], longest[-1]) == (0.05, 1.0)
    assert _retry.pause(9, lambda: 0.0) == 0.0


class StandingClock:
    """A stub's simulated clock: the stream is active after so many moves."""

    def __init__(self, stub: Stub, moves: int) -> None:
        self.moved = 0
        self.moves = moves
        stub.next = self.answer  # type: ignore[method-assign]

    def answer(self, name: str) -> Answer:
        if name == "POST /_simulator/clock":
            self.moved += 1
        if name.endswith("/_simulator/clock"):
            return 200, {"now": 1.0 + self.moved / 10}
        if name == "DescribeStreamSummary":
            return status("ACTIVE" if self.moved >= self.moves else "CREATING")
        return 200, {}


def test_a_clock_that_stands_still_is_moved_until_the_change_is_done(
    stub: Stub, kinesis: LocalEndpoint
) -> None:
    clock = StandingClock(stub, moves=5)
    kinesis.create("orders", 1)
    assert clock.moved == 5
    assert stub.bodies("POST /_simulator/clock") == [{"advance": 0.5}] * 5


def test_a_clock_that_moves_by_itself_is_left_alone(stub: Stub, kinesis: LocalEndpoint) -> None:
    stub.say("CreateStream", (200, {}))
    stub.say("DescribeStreamSummary", *[status("CREATING")] * 3, status())
    kinesis.create("orders", 1)
    assert stub.bodies("POST /_simulator/clock") == []


def test_ctrl_c_while_it_starts_ends_the_process(monkeypatch: pytest.MonkeyPatch) -> None:
    def interrupted(*_: object) -> None:
        raise KeyboardInterrupt

    wait = [sys.executable, "-c", "import sys; sys.stdin.read()"]
    monkeypatch.setattr("spark_kinesis.local._kinesis.command", lambda *_, **__: wait)
    monkeypatch.setattr("spark_kinesis.local._kinesis.ready_endpoint", interrupted)
    kinesis = LocalKinesis()
    with pytest.raises(KeyboardInterrupt):
        kinesis.start()
    assert not kinesis.is_running
    assert kinesis._process is None
