"""What metrics and samples of shards show."""

from __future__ import annotations

from collections.abc import Mapping
from datetime import datetime, timedelta, timezone
from pathlib import Path
from typing import Any

import pytest
from botocore.exceptions import ClientError

from spark_kinesis._errors import CheckpointError
from spark_kinesis._offsets import Progress, ShardOffset, SourceOffset, StreamOffset, encode
from spark_kinesis.tools.advising import measuring
from spark_kinesis.tools.advising.layout import Atom, Rate, ShardLoad
from spark_kinesis.tools.advising.measuring import (
    BYTES,
    RECORDS,
    REFUSED,
    Sample,
    hash_key,
    lag_of,
    read_sample,
)
from spark_kinesis.tools.facts.checkpoints import Checkpoint
from spark_kinesis.tools.facts.cloudwatch import Query, Series
from spark_kinesis.tools.facts.files import open_files
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


def read(client: Any, pauses: list[float] | None = None, rows: int = 2000) -> Any:
    sleep = ([] if pauses is None else pauses).append
    return read_sample(
        client, "arn", SHARD, since=BEGIN, until=BEGIN + SPAN, rows=rows, sleep=sleep
    )


@pytest.mark.parametrize("per_second", [1000, 900, 500, 20, 0.5])
def test_the_rate_of_a_sample_is_that_of_the_shard(per_second: float) -> None:
    assert read(Steady(per_second)).rate.records == pytest.approx(per_second, rel=0.05)


@pytest.mark.parametrize("size", [1000, 10_000, 100_000])
def test_the_rate_is_right_for_a_shard_that_is_full_of_bytes(size: int) -> None:
    found = read(Steady(1_000_000 / size, size))
    assert found.rate.bytes == pytest.approx(1_000_000, rel=0.15)


def test_few_rows_are_read_for_a_second_at_least() -> None:
    found = read(Steady(1000), rows=100)
    assert found.rate.records == pytest.approx(1000, rel=0.05)


def test_reading_pauses_between_two_calls_and_not_after_the_last() -> None:
    client, pauses = Steady(1000), list[float]()
    read(client, pauses)
    assert len(pauses) == client.calls - 1 <= 15
    assert min(pauses) >= 1.0


def test_a_record_counts_for_the_hash_key_of_its_key() -> None:
    tally = measuring._Tally(SHARD)
    for number in range(150):
        tally.add("a" if number % 3 else "b", b"x" * 99)
    found = tally.sample(10.0, is_short=False)
    assert found.rate == Rate(records=15, bytes=1500)
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
    assert tally.sample(1.0, is_short=False).atoms == ()


HALF = HASH_KEYS // 2
TWO = (
    StreamShard(id="low", parents=(), first_key=0, last_key=HALF - 1, starting=1, ending=None),
    StreamShard(
        id="high", parents=(), first_key=HALF, last_key=HASH_KEYS - 1, starting=1, ending=None
    ),
)
SAMPLES = {
    shard: Sample(
        rate=Rate(records=rate, bytes=rate * 100),
        rows=1000,
        atoms=(Atom(hash_key=shard.first_key, records=1, bytes=1, key="k"),),
        is_short=False,
    )
    for shard, rate in zip(TWO, (300, 100), strict=True)
}


def loads(metrics: dict[Query, Series]) -> list[ShardLoad]:
    return [measuring._load(metrics, it, SAMPLES) for it in TWO]


def test_without_cloudwatch_the_sample_counts() -> None:
    assert [it.peak.records for it in loads({})] == [300, 100]
    assert "without CloudWatch" in measuring._source({}, SAMPLES, SPAN)


STREAM = {
    RECORDS: Series(peak=1000, average=400, points=180),
    BYTES: Series(peak=50_000, average=20_000, points=180),
}


def test_metrics_of_the_stream_are_divided_like_the_sample() -> None:
    assert [it.peak for it in loads(STREAM)] == [
        Rate(records=750, bytes=37_500),
        Rate(records=250, bytes=12_500),
    ]
    said = measuring._source(STREAM, SAMPLES, timedelta(hours=3))
    assert said.startswith("Rates: CloudWatch for the whole stream, 3 h")


def test_metrics_per_shard_count_most() -> None:
    metrics = {
        **STREAM,
        Query("IncomingRecords", "low"): Series(peak=800, average=100, points=9),
        Query("IncomingBytes", "low"): Series(peak=9000, average=1000, points=9),
        Query(REFUSED.metric, "low"): Series(average=2, points=9),
    }
    low, high = loads(metrics)
    assert (low.peak, low.throttled) == (Rate(records=800, bytes=9000), 2)
    assert high.peak == SAMPLES[TWO[1]].rate  # it has no metrics yet, but records: it is new
    assert "CloudWatch per shard" in measuring._source(metrics, SAMPLES, SPAN)


@pytest.mark.parametrize(("refused", "peak"), [(0, 950), (100, 950 * 1.25), (1e6, 950 * 2)])
def test_a_full_shard_hides_a_part_of_what_producers_want_to_write(
    refused: float, peak: float
) -> None:
    metrics = {
        Query("IncomingRecords", "low"): Series(peak=950, average=400, points=9),
        Query(REFUSED.metric, "low"): Series(average=refused, points=9),
    }
    found = loads(metrics)
    assert found[0].peak.records == peak
    assert next(measuring._notes(found, SAMPLES)).startswith("low: full.")


NOW = datetime(2026, 11, 23, 12, tzinfo=timezone.utc)
ARN = "arn:aws:kinesis:us-east-1:123456789012:stream/orders"
EXPIRED, THROTTLED = "ResourceNotFoundException", "ProvisionedThroughputExceededException"
READ = ShardOffset(progress=Progress.AFTER, sequence_number=7)


class Unread:
    """Has one unread record in each shard: its age in seconds, or an error."""

    def __init__(self, shards: Mapping[str, float | str]) -> None:
        self.shards = shards

    def get_shard_iterator(self, **request: Any) -> Any:
        found = self.shards[request["ShardId"]]
        if isinstance(found, str):
            raise ClientError({"Error": {"Code": found, "Message": ""}}, "GetShardIterator")
        return {"ShardIterator": request["ShardId"]}

    def get_records(self, **request: Any) -> Any:
        age = timedelta(seconds=float(self.shards[request["ShardIterator"]]))
        record = {"ApproximateArrivalTimestamp": NOW - age, "SequenceNumber": "8", "Data": b""}
        return {"Records": [record], "MillisBehindLatest": 0, "NextShardIterator": "x"}


def lag(
    folder: Path, shards: Mapping[str, float | str], arn: str = ARN, *, sources: int = 1
) -> str:
    """The lag of a query that has read these shards, each source its part of them."""
    names = list(shards)
    texts = [
        encode(
            SourceOffset(
                streams={
                    ARN: StreamOffset(created="", shards=dict.fromkeys(names[it::sources], READ))
                }
            )
        )
        for it in range(sources)
    ]
    for name, lines in (("offsets", ["v1", "{}", *texts]), ("commits", ["v1"])):
        (folder / name).mkdir()
        (folder / name / "0").write_text("\n".join(lines), encoding="utf-8")
    client: Any = Unread(shards)
    checkpoint = Checkpoint(open_files(str(folder)))
    return lag_of(client, checkpoint, arn, NOW, lambda _done, _total: None)


def test_the_lag_is_that_of_the_slowest_shard(tmp_path: Path) -> None:
    assert lag(tmp_path, {"a": 5, "b": 90}) == "The query is 1 min 30 s behind."


def test_a_shard_that_cannot_be_read_is_named(tmp_path: Path) -> None:
    said = lag(tmp_path, {"a": 5, "b": EXPIRED, "c": THROTTLED})
    why = "all records there have expired, or other readers use up the quota."
    assert said == f"The query is 5 s behind, without b, c: {why}"


def test_a_lag_without_a_readable_shard_is_unknown(tmp_path: Path) -> None:
    said = lag(tmp_path, {"a": THROTTLED})
    assert said.startswith("It is unknown how far the query is behind in a: ")


def test_all_sources_of_a_stream_count(tmp_path: Path) -> None:
    assert lag(tmp_path, {"a": 60, "b": 1}, sources=2) == "The query is 1 min behind."


def test_another_error_ends_the_advice(tmp_path: Path) -> None:
    with pytest.raises(ClientError, match="AccessDenied"):
        lag(tmp_path, {"a": "AccessDeniedException"})


def test_a_query_of_another_stream_is_an_error(tmp_path: Path) -> None:
    with pytest.raises(CheckpointError, match="does not read arn:other"):
        lag(tmp_path, {"a": 1}, "arn:other")
