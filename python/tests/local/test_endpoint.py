"""Streams and records over HTTP: retries, pages and waiting."""

from __future__ import annotations

import os
import pickle
import sys
from collections.abc import Callable
from concurrent.futures import ThreadPoolExecutor
from datetime import datetime, timezone
from pathlib import Path

import pytest
from botocore.exceptions import NoCredentialsError

from python.tests.local.stub_server import Answer, Stub, description, refusal, shard
from spark_kinesis import (
    KinesisRefusedError,
    LocalKinesisError,
    MissingPackageError,
    NoAnswerError,
    _retry,
)
from spark_kinesis.local import LocalEndpoint, LocalKinesis


def test_a_change_waits_until_the_stream_is_active(stub: Stub, kinesis: LocalEndpoint) -> None:
    stub.say("CreateStream", refusal("LimitExceededException"), (200, b""))
    stub.say("DescribeStream", description(status="CREATING"), (500, {}), description(shard(0)))
    kinesis.create("orders", 1)
    assert stub.bodies("CreateStream") == [{"StreamName": "orders", "ShardCount": 1}] * 2
    assert len(stub.bodies("DescribeStream")) == 3


def test_a_permanent_refusal_is_not_retried(stub: Stub, kinesis: LocalEndpoint) -> None:
    stub.say("CreateStream", refusal("ResourceInUseException"))
    with pytest.raises(
        KinesisRefusedError, match=r"CreateStream orders: ResourceInUse.*: No"
    ) as raised:
        kinesis.create("orders", 1)
    assert raised.value.code == "ResourceInUseException"
    assert len(stub.asked) == 1


def test_lasting_throttling_is_an_error(
    stub: Stub, kinesis: LocalEndpoint, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr("spark_kinesis.local._calls._RATE_SECONDS", 0.0)
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
    monkeypatch.setattr("spark_kinesis.local._endpoint._PUT_SECONDS", 0.0)
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
        (200, b'{"Records": ['),
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
    assert len(stub.bodies("GetRecords")) == 8


def test_an_endpoint_without_a_server_is_no_answer() -> None:
    with pytest.raises(NoAnswerError, match=r"no answer from http://127.0.0.1:1: Conn"):
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


def test_the_profile_of_the_environment_is_not_used(
    stub: Stub, kinesis: LocalEndpoint, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("AWS_PROFILE", "missing")
    stub.say("ListStreams", (200, {"StreamNames": ["a"], "HasMoreStreams": False}))
    assert kinesis.streams == kinesis.client.list_streams()["StreamNames"] == ["a"]


@pytest.mark.parametrize(
    ("name", "value"),
    [
        ("AWS_RETRY_MODE", "bogus"),
        ("AWS_MAX_ATTEMPTS", "many"),
        ("AWS_DEFAULTS_MODE", "bogus"),
        ("AWS_USE_FIPS_ENDPOINT", "true"),
        ("AWS_USE_DUALSTACK_ENDPOINT", "true"),
        ("AWS_CONFIG_FILE", "FILE"),
        ("AWS_SHARED_CREDENTIALS_FILE", "FILE"),
    ],
)
def test_the_aws_configuration_of_the_machine_is_not_used(
    stub: Stub,
    kinesis: LocalEndpoint,
    monkeypatch: pytest.MonkeyPatch,
    tmp_path: Path,
    *,
    name: str,
    value: str,
) -> None:
    malformed = tmp_path / "config"
    malformed.write_text("[default\nregion", encoding="utf-8")
    monkeypatch.setenv(name, str(malformed) if value == "FILE" else value)
    stub.say("ListStreams", (200, {"StreamNames": ["a"], "HasMoreStreams": False}))
    assert kinesis.streams == kinesis.client.list_streams()["StreamNames"] == ["a"]


def test_a_call_that_boto3_cannot_make_is_an_error_at_once(
    kinesis: LocalEndpoint, monkeypatch: pytest.MonkeyPatch
) -> None:
    calls: list[object] = []

    def fail(*_: object) -> None:
        calls.append(1)
        raise NoCredentialsError

    monkeypatch.setattr("botocore.client.BaseClient._make_api_call", fail)
    with pytest.raises(LocalKinesisError, match="ListStreams: Unable to locate") as raised:
        _ = kinesis.streams
    assert not isinstance(raised.value, NoAnswerError)
    assert len(calls) == 1


def test_an_answer_that_is_not_text_is_asked_for_again(stub: Stub, kinesis: LocalEndpoint) -> None:
    good = (200, {"StreamNames": ["a"], "HasMoreStreams": False})
    stub.say("ListStreams", (200, b'{"StreamNames": ["\xc3'), good)
    assert kinesis.streams == ["a"]


# From Python 3.12 on, it warns of each fork beside a thread, such as that of the stub.
@pytest.mark.filterwarnings("ignore:.*multi-threaded.*:DeprecationWarning")
def test_a_forked_process_has_clients_of_its_own(stub: Stub, kinesis: LocalEndpoint) -> None:
    stub.say("ListStreams", (200, {"StreamNames": ["a"], "HasMoreStreams": False}))
    assert kinesis.streams == ["a"]
    client, calls = kinesis.client, kinesis._calls
    assert kinesis.client is client
    child = os.fork()
    if not child:
        is_new = kinesis.client is not client and kinesis._calls is not calls
        os._exit(0 if is_new and kinesis.client is kinesis.client else 1)
    assert os.waitstatus_to_exitcode(os.waitpid(child, 0)[1]) == 0
    assert kinesis.client is client


def test_threads_share_a_client(kinesis: LocalEndpoint) -> None:
    with ThreadPoolExecutor(8) as pool:
        clients = list(pool.map(lambda _: kinesis.client, range(8)))
    assert len(set(map(id, clients))) == 1


def test_an_endpoint_can_be_pickled_after_a_call(stub: Stub, kinesis: LocalEndpoint) -> None:
    stub.say("ListStreams", (200, {"StreamNames": ["a"], "HasMoreStreams": False}))
    assert kinesis.streams == kinesis.client.list_streams()["StreamNames"]
    copied = pickle.loads(pickle.dumps(kinesis))
    assert copied.endpoint == kinesis.endpoint
    assert copied.streams == ["a"]
    assert copied.client is not kinesis.client


def test_a_value_that_aws_refuses_is_refused_by_the_server(
    stub: Stub, kinesis: LocalEndpoint
) -> None:
    stub.say("CreateStream", refusal("ValidationException"))
    with pytest.raises(KinesisRefusedError, match="ValidationException"):
        kinesis.create("", 0)


def test_a_write_without_an_answer_is_not_repeated(kinesis: LocalEndpoint, stub: Stub) -> None:
    stub.say("PutRecords", (500, {}))
    with pytest.raises(KinesisRefusedError, match="PutRecords orders: HTTP 500") as raised:
        kinesis.put("orders", ["a"])
    assert raised.value.code == "HTTP 500"
    assert len(stub.bodies("PutRecords")) == 1
    with pytest.raises(NoAnswerError, match=r"no answer from http://127.0.0.1:1: "):
        LocalEndpoint("http://127.0.0.1:1").put("orders", ["a"])


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
        if name == "DescribeStream":
            is_active = self.moved >= self.moves
            return description(shard(0), status="ACTIVE" if is_active else "CREATING")
        return 200, {}


def test_a_clock_that_stands_still_is_moved_until_the_change_is_done(
    stub: Stub, kinesis: LocalEndpoint
) -> None:
    clock = StandingClock(stub, moves=5)
    kinesis.create("orders", 1)
    assert clock.moved == 5
    assert stub.bodies("POST /_simulator/clock") == [{"advance": 0.1}] * 5


def test_a_clock_that_moves_by_itself_is_left_alone(stub: Stub, kinesis: LocalEndpoint) -> None:
    stub.say("CreateStream", (200, {}))
    stub.say("DescribeStream", *[description(status="CREATING")] * 3, description(shard(0)))
    kinesis.create("orders", 1)
    assert stub.bodies("POST /_simulator/clock") == []


def test_ctrl_c_while_it_starts_ends_the_process(monkeypatch: pytest.MonkeyPatch) -> None:
    class Interrupted:
        status = None
        is_stopped = False

        def __init__(self, _words: object, **_: object) -> None:
            pass

        def endpoint(self) -> str:
            raise KeyboardInterrupt

        def stop(self) -> None:
            Interrupted.is_stopped = True

    monkeypatch.setattr("spark_kinesis.local._kinesis.command", lambda *_: [])
    monkeypatch.setattr("spark_kinesis.local._kinesis.ServerProcess", Interrupted)
    kinesis = LocalKinesis()
    with pytest.raises(KeyboardInterrupt):
        kinesis.start()
    assert Interrupted.is_stopped
    assert not kinesis.is_running
