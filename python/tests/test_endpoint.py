"""What a local Kinesis is asked over HTTP, and what is made of its answers."""

from __future__ import annotations

import json
import sys
import threading
from collections.abc import Callable, Iterator
from datetime import datetime, timedelta, timezone
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from typing import Any

import pytest

from spark_kinesis import (
    KinesisRefusedError,
    LocalKinesisError,
    MissingPackageError,
    NoAnswerError,
    _patience,
)
from spark_kinesis._simulator import Rules
from spark_kinesis.local import LocalEndpoint, LocalKinesis, Stats

Answer = tuple[int, Any]


class Stub:
    """A server that answers as it is told, in turn, and remembers what it was asked."""

    def __init__(self) -> None:
        self.answers: dict[str, list[Answer]] = {}
        self.asked: list[tuple[str, Any]] = []
        stub = self

        class Handler(BaseHTTPRequestHandler):
            def do_POST(self) -> None:
                target = self.headers.get("X-Amz-Target", "").rpartition(".")[2]
                name = target or f"{self.command} {self.path}"
                body = self.rfile.read(int(self.headers.get("Content-Length") or 0))
                stub.asked.append((name, json.loads(body) if body else None))
                if target:
                    assert "/us-east-1/kinesis/" in self.headers["Authorization"]
                status, answer = stub.next(name)
                sent = answer if isinstance(answer, bytes) else json.dumps(answer).encode()
                self.send_response(status)
                self.send_header("Content-Length", str(len(sent)))
                self.end_headers()
                self.wfile.write(sent)

            do_GET = do_DELETE = do_POST  # noqa: N815 http.server calls them so

            def log_message(self, *_: object) -> None:
                """Keep quiet."""

        self.server = ThreadingHTTPServer(("127.0.0.1", 0), Handler)
        self.server.daemon_threads = True

    def next(self, name: str) -> Answer:
        """The last answer is given again and again."""
        left = self.answers[name]
        return left.pop(0) if len(left) > 1 else left[0]

    def say(self, name: str, *answers: Answer) -> None:
        self.answers[name] = list(answers)

    def bodies(self, name: str) -> list[Any]:
        return [body for asked, body in self.asked if asked == name]


@pytest.fixture
def stub() -> Iterator[Stub]:
    made = Stub()
    thread = threading.Thread(target=made.server.serve_forever, args=(0.05,), daemon=True)
    thread.start()
    yield made
    made.server.shutdown()
    made.server.server_close()
    thread.join()


@pytest.fixture
def kinesis(stub: Stub) -> LocalEndpoint:
    return LocalEndpoint(f"http://127.0.0.1:{stub.server.server_address[1]}")


def refusal(code: str) -> Answer:
    return 400, {"__type": f"com.amazonaws.kinesis.v20131202#{code}", "message": "No."}


def description(*shards: dict[str, Any], status: str = "ACTIVE", more: bool = False) -> Answer:
    found = {"StreamStatus": status, "Shards": list(shards), "HasMoreShards": more}
    return 200, {"StreamDescription": found}


def shard(number: int, *, parent: int | None = None) -> dict[str, Any]:
    return {
        "ShardId": f"shardId-{number:012d}",
        "HashKeyRange": {"StartingHashKey": "0", "EndingHashKey": str(2**128 - 1)},
        "SequenceNumberRange": {"StartingSequenceNumber": "1"},
        **({} if parent is None else {"ParentShardId": f"shardId-{parent:012d}"}),
    }


def test_a_fault_says_only_what_it_was_told(stub: Stub, kinesis: LocalEndpoint) -> None:
    stub.say("POST /_simulator/faults", (200, {"id": 1}), (200, {"id": 2}))
    assert kinesis.fault("throttle").id == 1
    kinesis.fault(
        "stall",
        operation="GetRecords",
        stream="orders",
        shard="shardId-000000000000",
        times=3,
        rate=0.5,
        skip=0,
        seed=7,
        seconds=2.5,
    )
    assert stub.bodies("POST /_simulator/faults") == [
        {"fault": "throttle"},
        {
            "fault": "stall",
            "operation": "GetRecords",
            "stream": "orders",
            "shard": "shardId-000000000000",
            "times": 3,
            "rate": 0.5,
            "skip": 0,
            "seed": 7,
            "seconds": 2.5,
        },
    ]


def test_a_fault_is_removed_at_the_end_of_with(stub: Stub, kinesis: LocalEndpoint) -> None:
    stub.say("POST /_simulator/faults", (200, {"id": 4}))
    stub.say("GET /_simulator/faults", (200, {"faults": [{"id": 4, "struck": 2}]}))
    stub.say("DELETE /_simulator/faults/4", (200, {}), (404, {"error": "There is none."}))
    with kinesis.fault("reset") as fault:
        assert fault.struck == 2
        assert repr(fault) == "<Fault 4 reset>"
    assert ("DELETE /_simulator/faults/4", None) in stub.asked
    fault.remove()
    stub.say("GET /_simulator/faults", (200, {"faults": []}))
    with pytest.raises(KinesisRefusedError, match="it has been removed"):
        _ = fault.struck
    stub.say("DELETE /_simulator/faults/4", (500, {}))
    with pytest.raises(KinesisRefusedError, match="HTTP 500"):
        fault.remove()


def test_a_refused_fault_says_why(stub: Stub, kinesis: LocalEndpoint) -> None:
    stub.say("POST /_simulator/faults", (400, {"error": "rate must be 0 to 1"}))
    with pytest.raises(KinesisRefusedError, match="rate must be 0 to 1") as raised:
        kinesis.fault("throttle", rate=2)
    assert raised.value.code == "HTTP 400"


@pytest.mark.parametrize("by", [90, 90.0, timedelta(minutes=1, seconds=30)])
def test_the_clock_moves_by_seconds(
    stub: Stub, kinesis: LocalEndpoint, by: float | timedelta
) -> None:
    stub.say("POST /_simulator/clock", (200, {"now": 1.5}))
    assert kinesis.advance(by) == datetime(1970, 1, 1, 0, 0, 1, 500_000, tzinfo=timezone.utc)
    assert stub.bodies("POST /_simulator/clock") == [{"advance": 90}]
    stub.say("GET /_simulator/clock", (200, {"now": 0}))
    assert kinesis.now == datetime(1970, 1, 1, tzinfo=timezone.utc)


def test_statistics_have_names(stub: Stub, kinesis: LocalEndpoint) -> None:
    answer = {
        "calls": {"GetRecords": 12},
        "refused": {"GetRecords": {"ProvisionedThroughputExceededException": 3}},
        "recordsPut": 1,
        "bytesPut": 2,
        "recordsRead": 3,
        "bytesRead": 4,
        "entriesFailed": 5,
    }
    stub.say("GET /_simulator/stats", (200, answer))
    assert kinesis.stats() == Stats(
        calls={"GetRecords": 12},
        refused={"GetRecords": {"ProvisionedThroughputExceededException": 3}},
        records_put=1,
        bytes_put=2,
        records_read=3,
        bytes_read=4,
        entries_failed=5,
    )
    stub.say("DELETE /_simulator/stats", (200, {}))
    kinesis.reset_stats()
    assert stub.asked[-1] == ("DELETE /_simulator/stats", None)


def test_a_change_waits_until_the_stream_is_active(stub: Stub, kinesis: LocalEndpoint) -> None:
    stub.say("CreateStream", refusal("LimitExceededException"), (200, b""))
    stub.say("DescribeStream", description(status="CREATING"), (500, {}), description(shard(0)))
    kinesis.create("orders", 1)
    assert stub.bodies("CreateStream") == [{"StreamName": "orders", "ShardCount": 1}] * 2
    assert len(stub.bodies("DescribeStream")) == 3


def test_what_was_refused_for_good_is_not_asked_again(stub: Stub, kinesis: LocalEndpoint) -> None:
    stub.say("CreateStream", refusal("ResourceInUseException"))
    with pytest.raises(
        KinesisRefusedError, match=r"CreateStream orders: ResourceInUse.*: No"
    ) as raised:
        kinesis.create("orders", 1)
    assert raised.value.code == "ResourceInUseException"
    assert len(stub.asked) == 1


def test_a_limit_that_stays_is_an_error(
    stub: Stub, kinesis: LocalEndpoint, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr("spark_kinesis._streams.RATE_SECONDS", 0.0)
    stub.say("CreateStream", refusal("LimitExceededException"))
    with pytest.raises(KinesisRefusedError, match="LimitExceeded"):
        kinesis.create("orders", 1)


def test_shards_and_streams_come_in_pages(stub: Stub, kinesis: LocalEndpoint) -> None:
    stub.say("DescribeStream", description(shard(2), more=True), description(shard(1, parent=0)))
    found = kinesis.shards("orders")
    assert [(s.name, s.parents) for s in found] == [("1", ("shardId-000000000000",)), ("2", ())]
    assert stub.bodies("DescribeStream")[1]["ExclusiveStartShardId"] == "shardId-000000000002"
    pages = ({"StreamNames": ["a", "b"], "HasMoreStreams": True}, {"StreamNames": ["c"]})
    stub.say("ListStreams", (200, pages[0]), (200, {**pages[1], "HasMoreStreams": False}))
    assert kinesis.streams == ["a", "b", "c"]
    assert stub.bodies("ListStreams")[1] == {"ExclusiveStartStreamName": "b"}


def entry(*, throttled: bool = False) -> dict[str, str]:
    if throttled:
        return {"ErrorCode": "ProvisionedThroughputExceededException", "ErrorMessage": "No."}
    return {"ShardId": "shardId-000000000000", "SequenceNumber": "1"}


def test_only_what_was_refused_is_put_again(stub: Stub, kinesis: LocalEndpoint) -> None:
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
    monkeypatch.setattr("spark_kinesis._records._PUT_SECONDS", 0.0)
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
    stub.say("DescribeStream", description(shard(1, parent=0), shard(0)))
    stub.say("GetShardIterator", (200, {"ShardIterator": "first"}))
    stub.say(
        "GetRecords",
        refusal("ProvisionedThroughputExceededException"),
        page("YQ==", behind=9),
        (500, b"{"),
        page(behind=9),  # empty, and not the tip
        page("Yg==", follows=None),
        page("Yw=="),
        page(),
    )
    found = kinesis.records("orders")
    assert [(record.shard_id[-1], record.text) for record in found] == [
        ("0", "a"),
        ("0", "b"),
        ("1", "c"),
    ]
    assert found[0].arrival == datetime(1970, 1, 1, 0, 0, 1, 500_000, tzinfo=timezone.utc)
    assert len(stub.bodies("GetRecords")) == 7


def test_nobody_there_is_no_answer() -> None:
    with pytest.raises(NoAnswerError, match=r"no answer from http://127.0.0.1:1: Conn"):
        LocalEndpoint("http://127.0.0.1:1").stats()


def test_a_kinesis_that_was_not_started_says_so() -> None:
    kinesis = LocalKinesis()
    assert not kinesis.is_running
    asks: list[Callable[[], object]] = [lambda: kinesis.endpoint, lambda: kinesis.streams]
    for ask in asks:
        with pytest.raises(LocalKinesisError, match=r"not running: call start\(\) first"):
            ask()


def test_without_boto3_there_is_no_client(
    kinesis: LocalEndpoint, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setitem(sys.modules, "boto3", None)
    with pytest.raises(MissingPackageError, match="needs boto3: pip install boto3"):
        _ = kinesis.client


def test_pauses_grow_and_end() -> None:
    longest = [_patience.pause(attempt, lambda: 1.0) for attempt in range(20)]
    assert longest == sorted(longest)
    assert (longest[0], longest[-1]) == (0.05, 1.0)
    assert _patience.pause(9, lambda: 0.0) == 0.0


def test_rules_are_said_only_where_they_differ(tmp_path: Any) -> None:
    assert Rules().words() == []
    rules = Rules(
        persist=tmp_path,
        clock="simulated",
        list_lag=timedelta(seconds=2),
        change_time=timedelta(milliseconds=500),
        consumer_limit=50,
    )
    said = ["--persist", str(tmp_path), "--clock", "simulated", "--list-lag", "2000ms"]
    said += ["--change-time", "500ms", "--consumer-limit", "50"]
    assert rules.words() == said
    assert Rules(quotas="aws").words() == ["--quotas", "aws"]


@pytest.mark.parametrize("heap", ["", "1", "0g", "-1g", "1t", "1 g", "1g -XshowSettings"])
def test_a_heap_is_a_size(heap: str) -> None:
    with pytest.raises(ValueError, match="heap must be a size such as 512m or 4g, not"):
        LocalKinesis(heap=heap)


def test_limits_need_time_that_passes() -> None:
    with pytest.raises(ValueError, match=r"'simulated' stands still.*Choose one"):
        LocalKinesis(quotas="aws", clock="simulated")
