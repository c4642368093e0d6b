"""`spark-kinesis advise`, on streams of the local Kinesis."""

from __future__ import annotations

import json
from collections.abc import Callable
from datetime import datetime, timedelta, timezone
from typing import TYPE_CHECKING, Any

import pytest

from spark_kinesis.local import LocalKinesis
from spark_kinesis.tools.advising import measuring
from spark_kinesis.tools.advising.measuring import read_sample
from spark_kinesis.tools.cli import run
from spark_kinesis.tools.facts.streams import StreamShard, describe, list_shards
from tests.simulator.calls import client_of

if TYPE_CHECKING:
    from spark_kinesis.tools.advising.layout import ShardLoad

SPAN = timedelta(seconds=60)
FIFTH = 2 * 1024 * 1024 / 5  # of the read quota of a shard, in bytes per second


def write(kinesis: Any, stream: str, keys: list[str], size: int = 100) -> None:
    for first in range(0, len(keys), 500):
        records = [{"PartitionKey": key, "Data": b"x" * size} for key in keys[first : first + 500]]
        assert kinesis.put_records(StreamName=stream, Records=records)["FailedRecordCount"] == 0


class Place:
    """A stream of one shard."""

    def __init__(self, client: Any, name: str) -> None:
        self.client, self.name, self.arn = client, name, describe(client, name).arn
        self.shard: StreamShard = list_shards(client, name)[0]
        self.pauses: list[float] = []

    def read(self, since: datetime | None = None) -> ShardLoad:
        start = since or datetime.now(timezone.utc) - SPAN + timedelta(seconds=5)
        return read_sample(
            self.client,
            self.arn,
            self.shard,
            since=start,
            until=start + SPAN,
            sleep=self.pauses.append,
        )


@pytest.fixture
def place(kinesis: Any, make_stream: Callable[[int], str]) -> Place:
    return Place(kinesis, make_stream(1))


def test_a_sample_has_all_records_of_a_quiet_shard(place: Place, kinesis: Any) -> None:
    write(kinesis, place.name, [f"key-{number % 7}" for number in range(300)])
    found = place.read()
    assert found.sampled == 300
    assert found.peak.records == pytest.approx(300 / 60)
    assert found.peak.bytes == pytest.approx(300 * 105 / 60)
    assert {it.key for it in found.atoms} == {f"key-{number}" for number in range(7)}


def test_reading_stays_below_a_fifth_of_the_quota(place: Place, kinesis: Any) -> None:
    write(kinesis, place.name, ["k"] * 400, size=10_000)
    found = place.read()
    assert 0 < len(place.pauses) <= 16
    assert min(place.pauses) >= 1.0
    # After the first page, no call returns more than the bytes of a second.
    assert found.sampled * 10_000 <= (sum(place.pauses) + 1) * FIFTH * 1.1
    assert max(place.pauses) == pytest.approx(100 * 10_000 / FIFTH)


def test_a_shard_that_refuses_reads_ends_the_sample() -> None:
    with LocalKinesis(streams={"orders": 1}) as local:
        place = Place(client_of(local.endpoint, retries=False), "orders")
        local.put("orders", ["x"])
        with local.fault("throttle", operation="GetRecords"):
            found = place.read()
    assert found.sampled == 0


def test_old_records_do_not_count(place: Place, kinesis: Any) -> None:
    write(kinesis, place.name, ["k"] * 10)
    assert place.read(since=datetime.now(timezone.utc) - timedelta(minutes=5)).sampled == 0


@pytest.fixture
def quick(monkeypatch: pytest.MonkeyPatch) -> None:
    """Without quotas there is nothing to wait for."""
    monkeypatch.setattr(measuring, "SHARE", 1e6)
    monkeypatch.setattr(measuring, "ROWS", 100_000)


@pytest.mark.usefixtures("quick")
def test_a_full_shard_is_split_and_a_hot_key_is_named(
    endpoint: str, kinesis: Any, make_stream: Callable[[int], str], capsys: Any
) -> None:
    name = make_stream(2)
    # In ten minutes, one key has 1,500 records, and 300 keys have 750 together.
    write(kinesis, name, [f"key-{number % 300}" for number in range(750)] + ["hot"] * 1500)
    words = ["advise", "--stream", name, "--endpoint", endpoint, "--sample", "10m"]
    words += ["--target", "0.2"]
    assert run([*words, "--json"]) == 1
    found = json.loads(capsys.readouterr().out)
    assert [it["key"] for it in found["layout"]["hot"]] == ["hot"]
    assert found["layout"]["hot"][0]["used"] == pytest.approx(1500 / 600 / 1000, rel=0.1)
    assert any("at" in it for it in found["steps"])
    assert run(words) == 1
    out = capsys.readouterr().out
    assert "hot key: 'hot' in shardId-00000000000" in out
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


def test_a_stream_that_does_not_exist_is_an_error(endpoint: str, capsys: Any) -> None:
    assert run(["advise", "--stream", "nothing", "--endpoint", endpoint]) == 2
    assert "nothing" in capsys.readouterr().err


@pytest.mark.parametrize(
    ("words", "complaint"),
    [
        ([], "--stream"),
        (["--stream", "x", "--apply", "--json"], "--apply excludes --json"),
        (["--stream", "x", "--target", "130"], "130"),
    ],
)
def test_wrong_options_are_named(words: list[str], complaint: str, capsys: Any) -> None:
    assert run(["advise", *words]) == 2
    assert complaint in capsys.readouterr().err
