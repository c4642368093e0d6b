"""What metrics and samples of shards show."""

from __future__ import annotations

from datetime import datetime, timedelta, timezone
from typing import Any

import pytest

from spark_kinesis.tools.advising import measuring
from spark_kinesis.tools.advising.layout import Atom, Rate, ShardLoad
from spark_kinesis.tools.advising.measuring import (
    BYTES,
    RECORDS,
    hash_key,
    loads_of,
    read_sample,
)
from spark_kinesis.tools.facts.cloudwatch import Series
from spark_kinesis.tools.facts.streams import HASH_KEYS, StreamShard

BEGIN = datetime(2026, 11, 23, 12, tzinfo=timezone.utc)
SPAN = timedelta(seconds=60)
SHARD = StreamShard(
    id="s", parents=(), first_key=0, last_key=HASH_KEYS - 1, starting=1, ending=None
)


class Steady:
    """A shard whose records arrive at equal distances. An iterator is the number of a record."""

    def __init__(self, per_second: float, size: int = 100) -> None:
        self._per_second, self._data = per_second, b"x" * size
        self.calls = 0

    def get_shard_iterator(self, **request: Any) -> Any:
        seconds = (request["Timestamp"] - BEGIN).total_seconds()
        return {"ShardIterator": str(round(seconds * self._per_second))}

    def get_records(self, **request: Any) -> Any:
        self.calls += 1
        first, end = int(request["ShardIterator"]), int(SPAN.total_seconds() * self._per_second)
        last = min(end, first + request["Limit"])
        return {
            "Records": [self._record(it) for it in range(first, last)],
            "NextShardIterator": str(last),
            "MillisBehindLatest": (end - last) * 1000,
        }

    def _record(self, number: int) -> dict[str, Any]:
        arrived = BEGIN + timedelta(seconds=number / self._per_second)
        return {
            "ApproximateArrivalTimestamp": arrived,
            "PartitionKey": "k",
            "Data": self._data,
        }


def read(client: Any, pauses: list[float] | None = None) -> Any:
    sleep = ([] if pauses is None else pauses).append
    return read_sample(client, "arn", SHARD, since=BEGIN, until=BEGIN + SPAN, sleep=sleep)


@pytest.mark.parametrize("per_second", [1000, 900, 500, 20, 0.5])
def test_the_rate_of_a_sample_is_that_of_the_shard(per_second: float) -> None:
    assert read(Steady(per_second)).peak.records == pytest.approx(per_second, rel=0.05)


@pytest.mark.parametrize("size", [1000, 10_000, 100_000])
def test_the_rate_is_right_for_a_shard_that_is_full_of_bytes(size: int) -> None:
    found = read(Steady(1_000_000 / size, size))
    assert found.peak.bytes == pytest.approx(1_000_000, rel=0.15)


def test_few_rows_are_read_for_a_second_at_least(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(measuring, "ROWS", 100)
    found = read(Steady(1000))
    assert found.peak.records == pytest.approx(1000, rel=0.05)


def test_reading_pauses_between_two_calls_and_not_after_the_last() -> None:
    client, pauses = Steady(1000), list[float]()
    read(client, pauses)
    assert len(pauses) == client.calls - 1 <= 15
    assert min(pauses) >= 1.0


def test_a_record_counts_for_the_hash_key_of_its_key() -> None:
    tally = measuring._Tally(SHARD)
    for number in range(150):
        tally.add("a" if number % 3 else "b", b"x" * 99)
    found = tally.load(10.0)
    assert found.peak == Rate(records=15, bytes=1500)
    assert [(it.key, it.hash_key) for it in found.atoms] == [
        (key, hash_key(key)) for key in sorted(("a", "b"), key=hash_key)
    ]
    assert {it.key: it.records for it in found.atoms} == pytest.approx({"a": 2 / 3, "b": 1 / 3})


def test_a_key_of_another_shard_has_an_explicit_hash_key_that_nobody_sees() -> None:
    low = StreamShard(id="s", parents=(), first_key=0, last_key=7, starting=1, ending=None)
    tally = measuring._Tally(low)
    for _ in range(200):
        tally.add("a", b"x")
        tally.add(None, b"x")  # record distribution AUTO
    assert tally.load(1.0).atoms == ()


HALF = HASH_KEYS // 2
TWO = (
    StreamShard(id="low", parents=(), first_key=0, last_key=HALF - 1, starting=1, ending=None),
    StreamShard(
        id="high", parents=(), first_key=HALF, last_key=HASH_KEYS - 1, starting=1, ending=None
    ),
)
SAMPLES = {
    shard: ShardLoad(
        id=shard.id,
        first_key=shard.first_key,
        last_key=shard.last_key,
        peak=Rate(records=rate, bytes=rate * 100),
        sampled=1000,
        atoms=(Atom(hash_key=shard.first_key, records=1, bytes=1, key="k"),),
    )
    for shard, rate in zip(TWO, (300, 100), strict=True)
}


def peaks(metrics: dict[str, Series]) -> list[Rate]:
    return [it.peak for it in loads_of(metrics, SAMPLES)]


def test_without_cloudwatch_the_sample_counts() -> None:
    assert [it.records for it in peaks({})] == [300, 100]


def test_metrics_of_the_stream_are_divided_like_the_sample() -> None:
    metrics = {
        RECORDS: Series(peak=1000, average=400, points=180),
        BYTES: Series(peak=50_000, average=20_000, points=180),
    }
    expected = [Rate(records=750, bytes=37_500), Rate(records=250, bytes=12_500)]
    assert peaks(metrics) == expected
