"""LocalKinesis, the pytest fixture and the record generator against the real server."""

from __future__ import annotations

import json
import signal
import subprocess
import sys
from collections.abc import Iterator
from datetime import timedelta
from pathlib import Path
from typing import Any

import pytest
from botocore.exceptions import ClientError

from spark_kinesis import LocalKinesisError
from spark_kinesis.local import FaultName, LocalEndpoint, LocalKinesis

pytest_plugins = ["pytester"]

FIRST = "shardId-000000000000"


@pytest.fixture(scope="module")
def local() -> Iterator[LocalKinesis]:
    """A local Kinesis for tests that set faults and move its clock."""
    with LocalKinesis(streams={"given": 1}, clock="simulated") as kinesis:
        yield kinesis


@pytest.fixture
def stream(local: LocalKinesis) -> Iterator[str]:
    local.create("orders", 2)
    yield "orders"
    local.clear_faults()
    local.delete("orders")


def test_a_stream_is_split_merged_and_scaled(local: LocalKinesis, stream: str) -> None:
    assert {"given", stream} <= set(local.streams)
    low, high = local.split(stream)
    shards = {shard.id: shard for shard in local.shards(stream)}
    assert shards[low].parents == shards[high].parents == (FIRST,)
    assert shards[low].last + 1 == shards[high].first
    assert not shards[FIRST].is_open
    merged = local.merge(stream, low)
    assert local.shards(stream)[-1].id == merged
    assert local.shards(stream)[-1].parents == (low, high)
    tenth, _ = local.split(stream, merged, at=2**128 // 10)
    assert {shard.id: shard for shard in local.shards(stream)}[tenth].last == 2**128 // 10 - 1
    assert len(local.scale(stream, 4)) == 4
    assert sum(shard.is_open for shard in local.shards(stream)) == 4
    with pytest.raises(ClientError, match="UpdateShardCount"):
        local.scale(stream, 100)


def test_records_are_read_in_order_across_a_reshard(local: LocalKinesis, stream: str) -> None:
    local.put(stream, [("customer", str(number)) for number in range(700)])
    local.split(stream)
    local.put(stream, [("customer", str(number)) for number in range(700, 800)])
    local.merge(stream)
    shards = local.put(stream, [("customer", str(number)) for number in range(800, 900)])
    found = local.records(stream)
    assert [record.text for record in found] == [str(number) for number in range(900)]
    assert {record.partition_key for record in found} == {"customer"}
    assert found[-1].shard_id == shards[-1]


def test_boto3_reads_the_same_records(local: LocalKinesis, stream: str) -> None:
    client = local.client
    client.put_record(StreamName=stream, PartitionKey="k", Data=b"by boto3")
    assert [record.text for record in local.records(stream)] == ["by boto3"]
    assert local.client is client


def test_proxies_are_ignored(
    local: LocalKinesis, stream: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    for name in ("HTTP_PROXY", "http_proxy"):
        monkeypatch.setenv(name, "http://127.0.0.1:1")
    for name in ("NO_PROXY", "no_proxy"):
        monkeypatch.delenv(name, raising=False)
    assert stream in LocalEndpoint(local.endpoint).client.list_streams()["StreamNames"]
    said = generate(local.endpoint, "--stream", stream, "--count", "1")
    assert said.returncode == 0, said.stderr
    assert len(local.records(stream)) == 1


def test_a_fault_applies_until_it_is_removed(local: LocalKinesis, stream: str) -> None:
    with local.fault("access-denied", operation="ListStreams") as fault:
        with pytest.raises(ClientError, match="AccessDeniedException"):
            _ = local.streams
        assert fault.struck == 1
    assert stream in local.streams


@pytest.mark.parametrize("fault", ["throttle", "internal-failure", "reset", "empty-page"])
def test_reads_survive_transient_faults(local: LocalKinesis, stream: str, fault: FaultName) -> None:
    local.put(stream, ["one", "two"])
    struck = local.fault(fault, operation="GetRecords", times=2)
    assert sorted(record.text for record in local.records(stream)) == ["one", "two"]
    assert struck.struck == 2


def test_a_partial_put_is_completed(local: LocalKinesis, stream: str) -> None:
    local.fault("partial-put", times=3, seed=1)
    local.put(stream, map(str, range(100)))
    assert sorted(int(record.text) for record in local.records(stream)) == list(range(100))


def test_records_that_do_not_fit_into_one_request_are_written(
    local: LocalKinesis, stream: str
) -> None:
    local.reset_stats()
    shards = local.put(stream, [("key", bytes(900_000))] * 12 + ["x"] * 600)
    assert len(shards) == 612
    assert local.stats().records_put == 612
    assert [len(it.data) for it in local.records(stream)].count(900_000) == 12


def test_a_wrong_fault_is_refused(local: LocalKinesis) -> None:
    with pytest.raises(LocalKinesisError, match="rate"):
        local.fault("throttle", rate=2.0)


def test_records_end_with_their_retention(local: LocalKinesis, stream: str) -> None:
    local.put(stream, ["old"])
    before = local.now
    assert local.advance(timedelta(hours=25)) == before + timedelta(hours=25) == local.now
    assert local.records(stream) == []


def test_calls_and_records_are_counted(local: LocalKinesis, stream: str) -> None:
    local.reset_stats()
    local.put(stream, [("key", "four"), ("key", "five")])
    local.records(stream)
    with pytest.raises(ClientError, match="Stream none"):
        local.put("none", ["x"])
    stats = local.stats()
    assert (stats.records_put, stats.records_read) == (2, 2)
    assert stats.calls["PutRecords"] == 2
    assert stats.refused["PutRecords"] == {"ResourceNotFoundException": 1}


def generate(endpoint: str, *arguments: str) -> subprocess.CompletedProcess[str]:
    words = [sys.executable, "-m", "spark_kinesis", "generate", "--endpoint", endpoint]
    words += arguments
    return subprocess.run(words, capture_output=True, text=True, timeout=120, check=False)


def test_the_generator_writes_as_requested(local: LocalKinesis, stream: str) -> None:
    local.fault("partial-put", times=2, seed=1)
    local.fault("internal-failure", operation="PutRecords", times=1)
    local.fault("reset", operation="PutRecords", times=1)
    said = generate(
        local.endpoint,
        *("--stream", stream, "--rate", "5000", "--count", "1200"),
    )
    assert said.returncode == 0, said.stderr
    assert said.stdout.startswith("orders: 1,200 records written in ")
    found = local.records(stream)
    values = [json.loads(record.data) for record in found]
    assert sorted(value["id"] for value in values) == list(range(1200))
    assert [value["key"] for value in values] == [record.partition_key for record in found]


@pytest.mark.parametrize("fault", ["answer-lost", "truncate"])
def test_a_request_without_an_answer_is_written_again(
    local: LocalKinesis, stream: str, fault: FaultName
) -> None:
    local.fault(fault, operation="PutRecords", times=1)
    said = generate(local.endpoint, "--stream", stream, "--count", "5", "--rate", "50")
    assert said.returncode == 0, said.stderr
    assert "5 records written" in said.stdout
    ids = [json.loads(record.data)["id"] for record in local.records(stream)]
    assert sorted(ids) == sorted([*range(5), *range(5)])


def test_the_generator_explains_its_failure(local: LocalKinesis) -> None:
    said = generate(local.endpoint, "--stream", "none", "--count", "1")
    assert said.returncode == 2
    assert "Stream none" in said.stderr
    assert "ResourceNotFoundException" in said.stderr
    assert "Traceback" not in said.stderr


def test_the_fixture_serves_a_project(pytester: pytest.Pytester) -> None:
    pytester.makeconftest(
        """
        import pytest

        @pytest.fixture(scope="session")
        def local_kinesis_options():
            return {"streams": {"orders": 2}}
        """
    )
    pytester.makepyfile(
        """
        import pytest

        @pytest.mark.parametrize("turn", [1, 2])
        def test_orders(local_kinesis, turn):
            assert local_kinesis.streams == ["orders"]
            assert local_kinesis.records("orders") == []
            assert local_kinesis.stats().records_put == 0
            local_kinesis.put("orders", ["one"])
            local_kinesis.create("more")
            local_kinesis.fault("access-denied")
        """
    )
    pytester.runpytest_subprocess("--strict-markers", "-W", "error").assert_outcomes(passed=2)


def test_throttled_calls_are_retried(tmp_path: Path) -> None:
    with LocalKinesis(quotas="aws", persist=tmp_path / "kept") as strict:
        for number in range(7):
            strict.create(f"stream-{number}")
        large = {"PartitionKey": "k", "Data": b"x" * 700_000}
        burst: Any = [large, large]  # a shard takes 1 MiB at once
        refused = strict.client.put_records(StreamName="stream-6", Records=burst)
        assert refused["FailedRecordCount"] == 1
        strict.put("stream-0", map(str, range(1500)))
        assert len(strict.records("stream-0")) == 1500
    with LocalKinesis(persist=tmp_path / "kept") as again:
        assert len(again.streams) == 7
        assert len(again.records("stream-0")) == 1500


def test_a_reshard_returns_its_shards_despite_the_list_lag() -> None:
    lagging = LocalKinesis(streams={"orders": 1}, clock="simulated", list_lag=timedelta(seconds=3))
    with lagging as kinesis:
        low, high = kinesis.split("orders")
        merged = kinesis.merge("orders")
        assert [shard.id for shard in kinesis.shards("orders")] == [FIRST, low, high, merged]


def test_a_killed_server_is_reported_with_its_error_output(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv(
        "JAVA_TOOL_OPTIONS", "-Dsaid=on-stderr"
    )  # Java prints this to standard error
    with LocalKinesis(heap="64m") as kinesis:
        assert kinesis._process is not None
        kinesis._process.kill()
        assert kinesis.wait() == -signal.SIGKILL
        assert not kinesis.is_running
        with pytest.raises(LocalKinesisError, match=r"(?s)died with status -9:.*said=on-stderr"):
            kinesis.put("orders", ["one"])
    with pytest.raises(LocalKinesisError, match="call start"):
        _ = kinesis.streams


def test_a_change_on_a_simulated_clock_moves_it_and_returns() -> None:
    second = timedelta(seconds=1)
    with LocalKinesis(clock="simulated", change_time=second, list_lag=second) as kinesis:
        begin = kinesis.now
        kinesis.create("orders", 2)
        assert second <= kinesis.now - begin < 2 * second
        kinesis.split("orders")
        assert len(kinesis.scale("orders", 4)) == 4
        kinesis.delete("orders")
        assert kinesis.streams == []
        done = kinesis.now
        assert done == kinesis.now
