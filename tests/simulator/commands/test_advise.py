"""`spark-kinesis advise`, on streams of the local Kinesis."""

from __future__ import annotations

import json
from collections.abc import Callable
from datetime import datetime, timedelta, timezone
from pathlib import Path
from typing import Any

import pytest

from spark_kinesis import CheckpointError
from spark_kinesis.advise.measure import sample
from spark_kinesis.advise.measure.lag import lag_of
from spark_kinesis.advise.measure.sample import Window, read_sample
from spark_kinesis.checkpoint import Checkpoint, StoreKeys, open_files
from spark_kinesis.local import LocalKinesis
from spark_kinesis.stream import StreamShard, describe, list_shards
from spark_kinesis.tools.cli import connection, run
from tests.simulator.calls import client_of

SPAN = timedelta(seconds=60)
FIFTH = 2 * 1024 * 1024 / 5  # of the read quota of a shard, in bytes per second


def write(kinesis: Any, stream: str, keys: list[str], size: int = 100) -> None:
    for first in range(0, len(keys), 500):
        records = [{"PartitionKey": key, "Data": b"x" * size} for key in keys[first : first + 500]]
        assert kinesis.put_records(StreamName=stream, Records=records)["FailedRecordCount"] == 0


class Place:
    """A stream of one shard."""

    def __init__(self, client: Any, name: str) -> None:
        self.client, self.arn = client, describe(client, name).arn
        self.shard: StreamShard = list_shards(client, name)[0]
        self.pauses: list[float] = []

    def read(self, rows: int, since: datetime | None = None) -> Any:
        start = since or datetime.now(timezone.utc) - SPAN + timedelta(seconds=5)
        window = Window(since=start, span=SPAN, rows=rows)
        return read_sample(self.client, self.arn, self.shard, window, self.pauses.append)


@pytest.fixture
def place(kinesis: Any, make_stream: Callable[[int], str]) -> Place:
    return Place(kinesis, make_stream(1))


def test_a_sample_has_all_records_of_a_quiet_shard(place: Place, kinesis: Any) -> None:
    write(kinesis, place.arn.rpartition("/")[2], [f"key-{number % 7}" for number in range(300)])
    found = place.read(2000)
    assert (found.records, found.rows, found.seconds) == (300, 300, 60.0)
    assert found.bytes == 300 * 105
    assert {it.key for it in found.points} == {f"key-{number}" for number in range(7)}
    assert not found.refused


def test_a_sample_ends_when_it_has_enough(place: Place, kinesis: Any) -> None:
    write(kinesis, place.arn.rpartition("/")[2], ["k"] * 3000)
    found = place.read(400)
    assert found.records == 400
    assert found.seconds < 60


def test_reading_stays_below_a_fifth_of_the_quota(place: Place, kinesis: Any) -> None:
    write(kinesis, place.arn.rpartition("/")[2], ["k"] * 400, size=10_000)
    found = place.read(100_000)
    assert len(place.pauses) <= sample.SPOTS * 4
    assert min(place.pauses) >= 1.0
    # After the first page, no call returns more than the bytes of a second.
    assert found.bytes <= sum(place.pauses) * FIFTH * 1.1
    assert max(place.pauses) == pytest.approx(100 * 10_000 / FIFTH)


def test_a_shard_that_refuses_reads_ends_the_sample() -> None:
    with LocalKinesis(streams={"orders": 1}) as local:
        place = Place(client_of(local.endpoint, retries=False), "orders")
        local.put("orders", ["x"])
        with local.fault("throttle", operation="GetRecords"):
            found = place.read(100)
    assert (found.refused, found.records) == (True, 0)


def test_old_records_do_not_count(place: Place, kinesis: Any) -> None:
    write(kinesis, place.arn.rpartition("/")[2], ["k"] * 10)
    found = place.read(2000, since=datetime.now(timezone.utc) - timedelta(minutes=5))
    assert found.records == 0


@pytest.fixture
def quick(monkeypatch: pytest.MonkeyPatch) -> None:
    """Without quotas there is nothing to wait for."""
    monkeypatch.setattr(sample, "SHARE", 1e6)


@pytest.mark.usefixtures("quick")
def test_a_full_shard_is_split_and_a_hot_key_is_told(
    endpoint: str, kinesis: Any, make_stream: Callable[[int], str], capsys: Any
) -> None:
    name = make_stream(2)
    # In ten minutes, one key has 1,500 records, and 300 keys have 750 together.
    write(kinesis, name, [f"key-{number % 300}" for number in range(750)] + ["hot"] * 1500)
    words = ["advise", "--stream", name, "--endpoint", endpoint, "--sample-seconds", "600"]
    words += ["--sample-rows", "100000", "--target", "0.2", "--merge-below", "0"]
    assert run([*words, "--json"]) == 1
    found = json.loads(capsys.readouterr().out)
    assert [it["key"] for it in found["hotKeys"]] == ["hot"]
    assert found["hotKeys"][0]["used"] == pytest.approx(1500 / 600 / 1000)
    assert {it["call"] for it in found["steps"]} == {"SplitShard"}
    assert run(words) == 1
    out = capsys.readouterr().out
    assert "hot key: 'hot' alone uses 0.2% of a shard" in out
    assert "  1. split shardId-00000000000" in out
    assert "without CloudWatch" in out


@pytest.mark.usefixtures("quick")
def test_a_stream_that_fits_needs_nothing(
    endpoint: str, kinesis: Any, make_stream: Callable[[int], str], capsys: Any
) -> None:
    name = make_stream(1)
    write(kinesis, name, ["a", "b"])
    assert run(["advise", "--stream", name, "--endpoint", endpoint]) == 0
    assert "shards: keep the 1." in capsys.readouterr().out


def checkpoint(folder: Path, arn: str, created: str, shards: dict[str, str]) -> str:
    """A checkpoint with one completed micro-batch."""
    offset = {"version": 1, "streams": {arn: {"created": created, "shards": shards}}}
    (folder / "offsets").mkdir()
    (folder / "commits").mkdir()
    log = ["v1", '{"batchTimestampMs":1767340800000}', json.dumps(offset)]
    (folder / "offsets/0").write_text("\n".join(log), encoding="utf-8")
    (folder / "commits/0").write_text("v1", encoding="utf-8")
    return str(folder)


def lag(client: Any, location: str, arn: str, now: datetime) -> timedelta | None:
    return lag_of(client, Checkpoint(open_files(location)), arn, now, lambda *_: None).age


def test_the_lag_of_a_query_is_that_of_its_slowest_shard(tmp_path: Path) -> None:
    with LocalKinesis(streams={"orders": 2}, clock="simulated") as local:
        for text in ("one", "two"):
            local.put("orders", [("a", text), ("b", text)])
        local.advance(timedelta(seconds=100))
        local.put("orders", [("a", "three")])
        summary = describe(local.client, "orders")
        read = {it.shard_id: str(it.sequence_number) for it in local.records("orders")}
        first = {it.shard_id: it for it in reversed(local.records("orders"))}
        slow = next(it.shard_id for it in local.records("orders") if it.partition_key == "a")
        read[slow] = str(first[slow].sequence_number)
        created = summary.created.isoformat()
        location = checkpoint(tmp_path, summary.arn, created, read)
        assert lag(local.client, location, summary.arn, local.now) == timedelta(seconds=100)
        with pytest.raises(CheckpointError, match="does not read arn:other"):
            lag(local.client, location, "arn:other", local.now)
    (tmp_path / "commits/0").unlink()
    with pytest.raises(CheckpointError, match="no completed micro-batch"):
        lag(None, location, summary.arn, summary.created)


@pytest.mark.usefixtures("quick")
def test_an_expired_shard_does_not_end_the_advice(
    endpoint: str, kinesis: Any, make_stream: Callable[[int], str], tmp_path: Path, capsys: Any
) -> None:
    name = make_stream(1)
    summary = describe(kinesis, name)
    shards = {f"shardId-00000000000{number}": "trim_horizon" for number in (0, 9)}
    location = checkpoint(tmp_path, summary.arn, summary.created.isoformat(), shards)
    words = ["advise", "--stream", name, "--endpoint", endpoint, "--checkpoint", location]
    assert run([*words, "--json"]) == 0
    notes = json.loads(capsys.readouterr().out)["notes"]
    assert "The lag does not contain shardId-000000000009: all records there have expired." in notes


@pytest.mark.usefixtures("quick")
def test_a_checkpoint_in_s3_is_read_with_the_profile(
    tmp_path: Path, capsys: Any, monkeypatch: pytest.MonkeyPatch
) -> None:
    profiles = tmp_path / "credentials"
    profiles.write_text(
        "[audit]\naws_access_key_id = of-audit\naws_secret_access_key = secret\n", encoding="utf-8"
    )
    monkeypatch.setenv("AWS_SHARED_CREDENTIALS_FILE", str(profiles))
    used: list[StoreKeys | None] = []

    def opened(location: str, keys: StoreKeys | None = None) -> Any:
        assert location == "s3://bucket/orders"
        used.append(keys)
        return open_files(str(tmp_path))

    monkeypatch.setattr(connection, "open_files", opened)
    with LocalKinesis(streams={"orders": 1}) as local:
        shard = local.client.list_shards(StreamName="orders")["Shards"][0]["ShardId"]
        summary = describe(local.client, "orders")
        checkpoint(tmp_path, summary.arn, summary.created.isoformat(), {shard: "trim_horizon"})
        words = ["advise", "--stream", "orders", "--endpoint", local.endpoint]
        words += ["--region", "us-east-1", "--profile", "audit"]
        assert run([*words, "--checkpoint", "s3://bucket/orders"]) == 0, capsys.readouterr().err
    assert used == [StoreKeys("of-audit", "secret", None)]


def test_a_stream_that_does_not_exist_is_an_error(endpoint: str, capsys: Any) -> None:
    assert run(["advise", "--stream", "nothing", "--endpoint", endpoint]) == 2
    assert "nothing" in capsys.readouterr().err


@pytest.mark.parametrize("words", [[], ["--plan", "--stream", "x"]])
def test_a_stream_or_a_plan_is_needed(words: list[str], capsys: Any) -> None:
    assert run(["advise", *words]) == 2
    assert "set --stream to measure a stream, or --plan" in capsys.readouterr().err
