"""What becomes of metrics and samples."""

from __future__ import annotations

from datetime import datetime, timedelta, timezone
from typing import Any

import boto3
import pytest
from aws_kinesis_agg.aggregator import RecordAggregator
from botocore.stub import ANY, Stubber

from python.tests.advise.traffic import hash_key
from spark_kinesis.advise.measure.combine import (
    AGE,
    BYTES,
    RECORDS,
    WRITES_REFUSED,
    Facts,
    shard_loads,
    traffic,
)
from spark_kinesis.advise.measure.notes import notes
from spark_kinesis.advise.measure.tally import ShardSample, Tally
from spark_kinesis.advise.shards import Point, Rate, ShardLoad
from spark_kinesis.tools.facts.cloudwatch import (
    READ_BYTES,
    READS_REFUSED,
    Query,
    Series,
    read_metrics,
)
from spark_kinesis.tools.facts.streams import HASH_KEYS, StreamShard, StreamSummary, named

NOW = datetime(2026, 11, 23, 12, tzinfo=timezone.utc)
HALF = HASH_KEYS // 2
SUMMARY = StreamSummary(
    name="orders",
    arn="arn:aws:kinesis:us-east-1:123456789012:stream/orders",
    status="ACTIVE",
    created=NOW - timedelta(days=1),
    mode="PROVISIONED",
    retention=timedelta(days=2),
    open_shards=2,
    consumers=1,
    key=None,
    shard_metrics=(),
)


def shard(name: str, first: int, last: int) -> StreamShard:
    return StreamShard(id=name, parents=(), first_key=first, last_key=last, starting=1, ending=None)


WHOLE = shard("s", 0, HASH_KEYS - 1)
TWO = (shard("low", 0, HALF - 1), shard("high", HALF, HASH_KEYS - 1))


def test_records_are_counted_by_hash_key() -> None:
    tally = Tally(WHOLE)
    for key, data in (("a", b"12345"), ("b", b""), ("a", b"1"), ("é", b"")):
        tally.add(key, data)
    found = tally.sample(2.0)
    assert (found.records, found.rows, found.bytes) == (4, 4, 11)
    assert found.rate == Rate(records=2, bytes=5.5)
    assert [it.hash_key for it in found.points] == sorted(map(hash_key, ("a", "b", "é")))
    by_key = {it.key: (it.records, it.bytes) for it in found.points}
    assert by_key == {"a": (2, 8), "b": (1, 1), "é": (1, 2)}
    assert found.unplaced == Rate()


def test_a_key_of_another_shard_has_an_explicit_hash_key() -> None:
    low, high = (Tally(it) for it in TWO)
    low.add("a", b"x")  # its MD5 begins with 0c
    high.add("a", b"x")
    high.add(None, b"x")  # record distribution AUTO
    assert low.sample(1.0).unplaced == Rate()
    assert high.sample(1.0).unplaced == Rate(records=2, bytes=3)
    assert high.sample(1.0).points == ()


def test_rows_of_an_aggregate_count_one_by_one() -> None:
    library = RecordAggregator()
    for key, place in (("a", None), ("b", None), ("b", str(HALF)), ("a", str(HALF + 1))):
        library.add_user_record(key, b"123", place)
    _, _, data = library.clear_and_get().get_contents()
    tally = Tally(TWO[1])
    tally.add("k", data)
    found = tally.sample(1.0)
    assert (found.records, found.rows) == (1, 4)
    assert found.rate.bytes == len(data) + 1
    placed = {it.hash_key: it.records for it in found.points}
    # "b" is in the upper half, and "a" is not: one of its rows has an explicit hash key there.
    assert placed == {hash_key("b"): 0.5, HALF + 1: 0.25}
    assert found.unplaced.records == 0.25


def test_a_marker_is_no_row() -> None:
    tally = Tally(WHOLE)
    message = b"\x0a\x14spark-kinesis-marker"
    from hashlib import md5  # noqa: PLC0415

    tally.add("a", b"\xf3\x89\x9a\xc2" + message + md5(message).digest())
    assert (tally.sample(1.0).records, tally.sample(1.0).rows) == (1, 0)


def cloudwatch() -> Any:
    return boto3.client(
        "cloudwatch", region_name="us-east-1", aws_access_key_id="x", aws_secret_access_key="x"
    )


def test_metrics_are_rates_per_second() -> None:
    client = cloudwatch()
    queries = [RECORDS, AGE, Query("IncomingRecords", "s-1")]
    with Stubber(client) as stub:
        first = {
            "MetricDataResults": [
                {"Id": "m0", "Values": [600.0, 1200.0]},
                {"Id": "m1", "Values": [500.0]},
            ],
            "NextToken": "more",
        }
        asked = {"MetricDataQueries": ANY, "StartTime": ANY, "EndTime": ANY}
        stub.add_response("get_metric_data", first, asked)
        rest = {"MetricDataResults": [{"Id": "m0", "Values": [60.0]}]}
        stub.add_response("get_metric_data", rest, {**asked, "NextToken": "more"})
        found = read_metrics(client, "orders", queries, NOW - timedelta(minutes=4), NOW)
        stub.assert_no_pending_responses()
    # 1,860 records in four minutes, of which one has no data.
    assert found[RECORDS] == Series(peak=20.0, average=1860 / 240, points=3)
    assert found[AGE].peak == 500.0
    assert found[queries[2]] == Series()


def test_many_metrics_are_several_calls() -> None:
    client = cloudwatch()
    queries = [Query("IncomingBytes", f"s-{number}") for number in range(700)]
    sizes: list[int] = []

    class Counting:
        def get_metric_data(self, **request: Any) -> Any:
            sizes.append(len(request["MetricDataQueries"]))
            assert request["MetricDataQueries"][0]["MetricStat"]["Metric"]["Dimensions"]
            return {"MetricDataResults": []}

    assert len(read_metrics(Counting(), "o", queries, NOW - timedelta(hours=3), NOW)) == 700
    assert sizes == [500, 200]
    sizes.clear()
    read_metrics(Counting(), "o", queries, NOW - timedelta(hours=24), NOW)
    assert max(sizes) * 24 * 60 <= 100_800
    assert client is not None


def sample(name: str, records: int, *, size: int = 100, seconds: float = 10.0) -> ShardSample:
    place = 7 if name == "low" else HALF + 7
    point = Point(hash_key=place, key="k", records=records, bytes=records * size)
    return ShardSample(
        shard=name,
        records=records,
        rows=records,
        bytes=records * size,
        seconds=seconds,
        points=(point,),
    )


SAMPLES = {"low": sample("low", 3000), "high": sample("high", 1000)}


def facts(metrics: dict[Query, Series] | None = None, **more: Any) -> Facts:
    fields = {"samples": SAMPLES, "window": timedelta(hours=3), **more}
    return Facts(summary=SUMMARY, shards=TWO, metrics=metrics or {}, **fields)


STREAM = {
    RECORDS: Series(peak=1000, average=400, points=180),
    BYTES: Series(peak=50_000, average=20_000, points=180),
    READ_BYTES: Series(peak=0, average=41_000, points=180),
    WRITES_REFUSED: Series(peak=3, average=0.5, points=180),
    READS_REFUSED: Series(peak=3, average=0.25, points=180),
    AGE: Series(peak=90_000, average=0, points=180),
}


def test_without_cloudwatch_the_sample_counts() -> None:
    loads = shard_loads(facts())
    assert [it.peak.records for it in loads] == [300, 100]
    whole = traffic(facts(), loads)
    assert whole.peak == whole.average == Rate(records=400, bytes=40_000)
    assert (whole.pollers, whole.consumers, whole.lag) == (1, 1, None)
    assert "without CloudWatch" in next(notes(facts(), loads, 0.8))


def test_metrics_of_the_stream_are_divided_like_the_sample() -> None:
    known = facts(STREAM)
    loads = shard_loads(known)
    assert [it.peak for it in loads] == [
        Rate(records=750, bytes=37_500),
        Rate(records=250, bytes=12_500),
    ]
    whole = traffic(known, loads)
    assert whole.average == Rate(records=400, bytes=20_000)
    assert whole.peak == Rate(records=1000, bytes=50_000)
    assert whole.pollers == 2  # twice as many bytes are read as written
    assert whole.lag == timedelta(seconds=90)
    assert (whole.writes_throttled, whole.reads_throttled) == (0.5, 0.25)
    assert traffic(facts(STREAM, readers=5, lag=timedelta(1)), loads).pollers == 5
    assert traffic(facts(STREAM, readers=5, lag=timedelta(1)), loads).lag == timedelta(1)
    said = list(notes(known, loads, 0.8))
    assert said[0].startswith("Rates: CloudWatch for the whole stream, 3 hours")
    assert "bursts within a minute" in said[1]
    assert len(list(notes(known, loads, 0.7))) == 1  # a full shard explains the refusals


def test_metrics_of_the_stream_without_a_sample_are_divided_by_width() -> None:
    loads = shard_loads(facts(STREAM, samples={}))
    assert [it.peak.records for it in loads] == [500, 500]


def test_metrics_per_shard_count_most() -> None:
    metrics = {
        **STREAM,
        Query("IncomingRecords", "low"): Series(peak=800, average=100, points=9),
        Query("IncomingBytes", "low"): Series(peak=9000, average=1000, points=9),
        Query("WriteProvisionedThroughputExceeded", "low"): Series(average=2, points=9),
    }
    low, high = shard_loads(facts(metrics))
    assert (low.peak, low.throttled) == (Rate(records=800, bytes=9000), 2)
    assert high.peak == SAMPLES["high"].rate  # it has no metrics yet, but records: it is new
    quiet = facts(metrics, samples={"low": SAMPLES["low"]})
    assert shard_loads(quiet)[1].peak == Rate()
    assert traffic(facts(metrics), [low, high]).peak.records == 1000
    assert "CloudWatch per shard" in next(notes(facts(metrics), [low, high], 0.8))


def test_a_full_shard_hides_a_part_of_what_producers_want_to_write() -> None:
    def low(refused: float) -> ShardLoad:
        metrics = {
            Query("IncomingRecords", "low"): Series(peak=950, average=400, points=9),
            Query("WriteProvisionedThroughputExceeded", "low"): Series(average=refused, points=9),
        }
        found = shard_loads(facts(metrics))
        said = [it for it in notes(facts(metrics), found, 0.8) if it.startswith("low: full.")]
        assert len(said) == 1
        return found[0]

    assert low(0).peak.records == 950
    assert low(100).peak.records == 950 * 1.25
    assert low(1e6).peak.records == 950 * 2  # most of these are retries
    assert low(1e6).average.records == 400


def test_what_the_sample_does_not_show_is_told() -> None:
    few = {"low": sample("low", 50, seconds=0.06), "high": sample("high", 10)}
    said = list(notes(facts(samples=few), shard_loads(facts(samples=few)), 0.8))
    assert "Fewer than 100 records were read from low:" in said[1]
    hidden = ShardSample(
        shard="low", records=9, rows=9, unplaced=Rate(records=9, bytes=9), refused=True
    )
    known = facts(samples={"low": hidden, "high": sample("high", 91)})
    said = list(notes(known, shard_loads(known), 0.8))
    assert said[1].startswith("9% of the records have an explicit hash key")
    assert said[2] == "The sample is short: other readers use up the quota of low."


@pytest.mark.parametrize(
    ("count", "words"),
    [
        (1, "s0"),
        (5, "s0, s1, s2, s3, s4"),
        (6, "s0, s1, s2, s3, s4 and 1 other"),
        (9, "s0, s1, s2, s3, s4 and 4 others"),
    ],
)
def test_at_most_five_shards_are_named(count: int, words: str) -> None:
    assert named([f"s{number}" for number in range(count)]) == words


def test_the_notes_of_many_full_shards_are_short() -> None:
    samples = {
        f"s{number}": ShardSample(
            shard=f"s{number}", records=9, rows=9, bytes=9_000_000, seconds=1, refused=True
        )
        for number in range(40)
    }
    shards = [shard(name, 0, HASH_KEYS - 1) for name in samples]
    many = Facts(summary=SUMMARY, shards=shards, samples=samples)
    said = [it for it in notes(many, shard_loads(many), 0.8) if "s0, s1" in it]
    assert len(said) == 3
    assert all("s3, s4 and 35 others" in it for it in said)


@pytest.mark.parametrize("statistic", ["Sum", "Maximum"])
def test_no_values_are_no_rate(statistic: str) -> None:
    class Empty:
        def get_metric_data(self, **_: Any) -> Any:
            return {"MetricDataResults": [{"Id": "m0", "Values": []}]}

    query = Query("M", None, statistic)
    assert read_metrics(Empty(), "o", [query], NOW, NOW) == {query: Series()}
