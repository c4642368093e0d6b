"""What a sample shows of shards whose records arrive at a known rate."""

from __future__ import annotations

from datetime import datetime, timedelta, timezone
from typing import Any

import pytest

from spark_kinesis.advise.measure.sample import Window, read_sample
from spark_kinesis.stream import StreamShard
from spark_kinesis.stream.shards import HASH_KEYS

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


def read(client: Any, pauses: list[float] | None = None, rows: int = 2000) -> Any:
    window = Window(since=BEGIN, span=SPAN, rows=rows)
    return read_sample(client, "arn", SHARD, window, ([] if pauses is None else pauses).append)


@pytest.mark.parametrize("per_second", [1000, 900, 500, 20, 0.5])
def test_the_rate_of_a_sample_is_that_of_the_shard(per_second: float) -> None:
    assert read(Steady(per_second)).rate.records == pytest.approx(per_second, rel=0.05)


@pytest.mark.parametrize("size", [1000, 10_000, 100_000])
def test_the_rate_is_right_for_a_shard_that_is_full_of_bytes(size: int) -> None:
    found = read(Steady(1_000_000 / size, size))
    assert found.rate.bytes == pytest.approx(1_000_000, rel=0.1)


def test_few_rows_are_read_for_a_second_at_least() -> None:
    found = read(Steady(1000), rows=100)
    assert found.seconds >= 4.0
    assert found.rate.records == pytest.approx(1000, rel=0.05)


def test_reading_pauses_between_two_calls_and_not_after_the_last() -> None:
    client, pauses = Steady(1000), list[float]()
    read(client, pauses)
    assert len(pauses) == client.calls - 1 <= 15
    assert min(pauses) >= 1.0
