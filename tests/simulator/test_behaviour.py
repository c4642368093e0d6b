"""What AWS does and the local Kinesis does on request: through boto3, fixture and options."""

from __future__ import annotations

import subprocess
import sys
from collections.abc import Iterator
from contextlib import contextmanager
from datetime import timedelta
from pathlib import Path
from typing import TYPE_CHECKING, Any

from spark_kinesis.local import LocalEndpoint, LocalKinesis
from tests.simulator.calls import KEY_SPACE, client_of, iterator, read, shards

if TYPE_CHECKING:
    import pytest

pytest_plugins = ["pytester"]

FIRST = "shardId-000000000000"
SECOND = timedelta(seconds=1)


@contextmanager
def serving(persist: Path | None = None, **behaviour: Any) -> Iterator[tuple[Any, Any]]:
    """A local Kinesis whose time stands still, and a client. It has a stream with one shard."""
    with LocalKinesis(clock="simulated", behaviour=behaviour, persist=persist) as local:
        if "orders" not in local.streams:
            local.create("orders")
        yield local, client_of(local.endpoint)


def put(kinesis: Any, count: int) -> list[dict[str, Any]]:
    """Put records in one call. Returns the results."""
    entries = [{"Data": b"%d" % number, "PartitionKey": "k"} for number in range(count)]
    return list(kinesis.put_records(StreamName="orders", Records=entries)["Records"])


def pages(kinesis: Any, shard: str = FIRST) -> list[dict[str, Any]]:
    """The pages of a shard, up to one at the tip or the end of the shard."""
    found: list[dict[str, Any]] = []
    token: str | None = iterator(kinesis, "orders", shard)
    while token and not (found and found[-1]["MillisBehindLatest"] == 0):
        found.append(kinesis.get_records(ShardIterator=token))
        token = found[-1].get("NextShardIterator")
    return found


def open_shards(kinesis: Any, stream: str) -> int:
    """The number of open shards now. The methods of `LocalKinesis` would wait for the reshard."""
    found = shards(kinesis, stream)
    return sum("EndingSequenceNumber" not in shard["SequenceNumberRange"] for shard in found)


def data(found: list[dict[str, Any]]) -> list[int]:
    """The numbers in records."""
    return [int(record["Data"]) for record in found]


def test_a_record_becomes_visible_after_its_acknowledgement() -> None:
    with serving(visibility_delay=60 * SECOND) as (local, kinesis):
        put(kinesis, 1)
        put(kinesis, 1)
        kinesis.split_shard(
            StreamName="orders", ShardToSplit=FIRST, NewStartingHashKey=str(KEY_SPACE // 2)
        )
        (page,) = pages(kinesis)
        assert len(page["Records"]) < 2
        assert page["MillisBehindLatest"] == 0
        assert "NextShardIterator" in page
        assert "ChildShards" not in page
        local.advance(60)
        (page,) = pages(kinesis)
        assert len(page["Records"]) == 2
        assert "NextShardIterator" not in page
        assert len(page["ChildShards"]) == 2


def test_arrival_times_fall() -> None:
    with serving(arrival_fall=SECOND) as (local, kinesis):
        for _ in range(20):
            put(kinesis, 1)
            local.advance(0.1)
        found = read(kinesis, "orders", FIRST)
        times = [record["ApproximateArrivalTimestamp"] for record in found]
        falls = [max(times[: at + 1]) - time for at, time in enumerate(times)]
        assert timedelta(0) < max(falls) <= SECOND
        for time in times:
            after = read(kinesis, "orders", FIRST, kind="AT_TIMESTAMP", Timestamp=time)
            assert len(after) == len(times) - next(at for at, t in enumerate(times) if t >= time)


def test_empty_pages_advance_the_iterator() -> None:
    with serving(empty_pages=1) as (_, kinesis):
        put(kinesis, 1)
        *empty, last = pages(kinesis)
        assert 1 <= len(empty) <= 3
        assert not any(page["Records"] for page in empty)
        assert len(last["Records"]) == 1
        behind = [page["MillisBehindLatest"] for page in [*empty, last]]
        assert behind == sorted(set(behind), reverse=True)
        assert len({page["NextShardIterator"] for page in empty}) == len(empty)


def test_a_closed_shard_needs_one_more_empty_page() -> None:
    with serving(late_shard_ends=1) as (local, kinesis):
        put(kinesis, 2)
        local.split("orders", FIRST)
        (page,) = pages(kinesis)
        assert len(page["Records"]) == 2
        assert "ChildShards" not in page
        end = kinesis.get_records(ShardIterator=page["NextShardIterator"])
        assert end["Records"] == []
        assert "NextShardIterator" not in end
        assert len(end["ChildShards"]) == 2


def test_single_entries_fail_and_others_are_written_in_another_order() -> None:
    with serving(failed_entries=0.3, shuffled_puts=1) as (_, kinesis):
        results = put(kinesis, 200)
        failed = [result for result in results if "ErrorCode" in result]
        assert {result["ErrorCode"] for result in failed} == {"InternalFailure"}
        assert 20 < len(failed) < 120
        numbers = {
            at: int(result["SequenceNumber"])
            for at, result in enumerate(results)
            if "SequenceNumber" in result
        }
        found = data(read(kinesis, "orders", FIRST))
        assert found == sorted(numbers, key=lambda at: numbers[at])
        assert found != sorted(found)


def test_scaling_is_a_sequence_of_splits_and_merges() -> None:
    with serving(reshard_interval=SECOND) as (local, kinesis):
        local.scale("orders", 2)
        kinesis.update_shard_count(
            StreamName="orders", TargetShardCount=3, ScalingType="UNIFORM_SCALING"
        )
        opened: list[int] = []
        written: set[str] = set()

        def status() -> str:
            summary = kinesis.describe_stream_summary(StreamName="orders")
            return str(summary["StreamDescriptionSummary"]["StreamStatus"])

        while status() == "UPDATING":
            opened.append(open_shards(kinesis, "orders"))
            answer = kinesis.put_record(StreamName="orders", Data=b"0", PartitionKey="k")
            written.add(answer["ShardId"])
            local.advance(1)
        assert opened == [2, 3, 4]
        assert open_shards(kinesis, "orders") == 3
        assert len(written) > 1
        everywhere = [
            read(kinesis, "orders", shard["ShardId"]) for shard in shards(kinesis, "orders")
        ]
        assert sum(map(len, everywhere)) == len(opened)


def test_an_on_demand_stream_doubles_its_shards_under_load() -> None:
    with serving(on_demand_scaling=10, reshard_interval=SECOND) as (local, kinesis):
        kinesis.create_stream(StreamName="busy", StreamModeDetails={"StreamMode": "ON_DEMAND"})
        local.put("busy", map(str, range(40)))
        local.advance(5)
        assert len(local.shards("busy")) == 4
        local.put("busy", map(str, range(41)))
        for count in (4, 6, 8, 10, 12):
            assert len(shards(kinesis, "busy")) == count
            local.advance(1)
        assert open_shards(kinesis, "busy") == 8
        assert len(local.records("busy")) == 81


def test_stored_records_keep_their_arrival_times(tmp_path: Path) -> None:
    def times(kinesis: Any) -> list[object]:
        found = read(kinesis, "orders", FIRST)
        return [record["ApproximateArrivalTimestamp"] for record in found]

    with serving(tmp_path, arrival_fall=60 * SECOND, shuffled_puts=1) as (_, kinesis):
        put(kinesis, 50)
        before, order = times(kinesis), data(read(kinesis, "orders", FIRST))
        assert before != sorted(before, key=str)
    with serving(tmp_path) as (_, kinesis):
        assert times(kinesis) == before
        assert data(read(kinesis, "orders", FIRST)) == order


def test_the_fixture_takes_a_behaviour(pytester: pytest.Pytester) -> None:
    pytester.makeconftest(
        """
        import datetime, pytest

        @pytest.fixture(scope="session")
        def local_kinesis_options():
            late = {"visibility_delay": datetime.timedelta(minutes=9)}
            return {"streams": {"orders": 1}, "clock": "simulated", "behaviour": late}
        """
    )
    pytester.makepyfile(
        """
        def test_orders(local_kinesis):
            local_kinesis.put("orders", ["one"])
            assert local_kinesis.records("orders") == []
            local_kinesis.advance(540)
            assert [record.text for record in local_kinesis.records("orders")] == ["one"]
        """
    )
    pytester.runpytest_subprocess("--strict-markers", "-W", "error").assert_outcomes(passed=1)


def test_the_command_takes_the_same_names() -> None:
    words = ["--behaviour", "visibility-delay=9m", "--clock", "simulated", "orders"]
    with subprocess.Popen(
        [sys.executable, "-m", "spark_kinesis", "local", *words], stdout=subprocess.PIPE, text=True
    ) as process:
        assert process.stdout
        said = process.stdout.readline()
        kinesis = LocalEndpoint(said.removeprefix("listening on ").strip())
        kinesis.put("orders", ["one"])
        assert kinesis.records("orders") == []
        kinesis.advance(540)
        assert len(kinesis.records("orders")) == 1
        process.terminate()
