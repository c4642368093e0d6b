"""`aggregation=kpl`: fewer Kinesis records, and every reader gets all rows."""

from __future__ import annotations

from concurrent.futures import ThreadPoolExecutor
from datetime import timedelta
from pathlib import Path
from typing import TYPE_CHECKING, Any

import pytest

from spark_kinesis.local import LocalEndpoint
from tests.e2e.support.harness import assert_ongoing
from tests.e2e.support.kpl import Keyed, dropped_by_kcl, packed, read_by_agg, read_by_kcl
from tests.e2e.support.streams import MAX_HASH_KEY, Stream, wait_for
from tests.e2e.support.verdict import assert_written_in_order

if TYPE_CHECKING:
    from collections.abc import Callable
    from concurrent.futures import Future

    from pyspark.sql import DataFrame, SparkSession

    from spark_kinesis import KinesisSink
    from spark_kinesis.local import FaultName

KEYS = 40  # each of two tasks has keys in every quarter of the hash keys
ORDERED: dict[str, Any] = {"ordering": "per_key", "order_by": "n"}
# Many small Kinesis records, in many requests.
SMALL: dict[str, Any] = {"max_aggregate_bytes": 1024, "max_buffered_bytes": 8192}
GOLDEN = Path(__file__).resolve().parents[2] / "golden" / "kpl" / "keys.bin"
on_simulator = pytest.mark.parametrize("kinesis", ["simulator"], indirect=True)


def sink(stream: Stream, **options: Any) -> KinesisSink:
    """A sink that writes aggregates."""
    return stream.sink(aggregation="kpl", **options)


def numbered(spark: SparkSession, each: int) -> DataFrame:
    """The numbers of every key, in random order over all partitions."""
    count = KEYS * each
    mixed = spark.range(0, count, 1, 4).selectExpr(f"(id * 7919) % {count} AS i")
    return mixed.selectExpr(
        f"concat('key-', i % {KEYS}) AS partitionKey",
        f"string(i div {KEYS}) AS data",
        f"i div {KEYS} AS n",
    )


def expected(each: int) -> dict[str, int]:
    """The count of numbers of each key."""
    return {f"key-{key}": each for key in range(KEYS)}


def written(each: int) -> list[Keyed]:
    """The same rows as records, sorted."""
    return sorted(
        (key, str(n).encode()) for key, count in expected(each).items() for n in range(count)
    )


def read_by_us(spark: SparkSession, stream: Stream) -> list[Keyed]:
    """The rows of our source, parents before children."""
    rows = stream.source().read(spark).collect()
    rows.sort(key=lambda it: (it.shardId, int(it.sequenceNumber), it.subSequenceNumber))
    return [(row.partitionKey, bytes(row.data)) for row in rows]


def readings(spark: SparkSession, stream: Stream) -> list[list[Keyed]]:
    """The records of a stream by reader."""
    return [read_by_us(spark, stream), read_by_agg(stream), read_by_kcl(stream)]


def assert_read_in_order(
    spark: SparkSession, stream: Stream, each: int, *, may_repeat: bool = False
) -> None:
    """Check that each reader gets every row, and each key in order."""
    for found in readings(spark, stream):
        numbers = [(key, int(data)) for key, data in found]
        assert_written_in_order(expected(each), numbers, may_repeat=may_repeat)


def assert_read(spark: SparkSession, stream: Stream, rows: list[Keyed]) -> None:
    """Check that each reader gets every row once."""
    for found in readings(spark, stream):
        assert sorted(found) == rows


def test_a_batch_write_writes_aggregates(spark: SparkSession, stream: Stream) -> None:
    sink(stream).write(numbered(spark, 120).drop("n"))
    assert_read(spark, stream, written(120))
    assert dropped_by_kcl(stream) == 0
    assert len(packed(stream)) < 120 * KEYS / 20


def test_an_ordered_batch_write_with_aggregates_keeps_the_order(
    spark: SparkSession, stream: Stream
) -> None:
    sink(stream, **ORDERED, **SMALL).write(numbered(spark, 120))
    assert_read_in_order(spark, stream, 120)
    assert len(packed(stream)) < 120 * KEYS / 20


def test_a_streaming_query_writes_aggregates(
    spark: SparkSession, new_stream: Callable[..., Stream], checkpoint: Path
) -> None:
    inlet, outlet = new_stream(), new_stream(shards=4)
    text = "get_json_object(string(data), '$.n')"
    frame = inlet.source().read_stream(spark).selectExpr("partitionKey", f"{text} AS data")
    told = {"recordsWritten": 0, "sentRecords": 0}
    for _ in range(2):
        inlet.put(1000)
        query = (
            sink(outlet)
            .write_stream(frame, checkpoint_location=checkpoint)
            .trigger(availableNow=True)
            .start()
        )
        query.awaitTermination()
        for progress in query.recentProgress:
            metrics = dict(progress["sink"]["metrics"])
            told = {name: count + int(metrics[name]) for name, count in told.items()}
    rows = sorted((it.key, str(it.n).encode()) for it in inlet.written)
    assert_read(spark, outlet, rows)
    assert told == {"recordsWritten": len(rows), "sentRecords": len(packed(outlet))}
    assert len(packed(outlet)) < len(rows) / 10


@on_simulator
def test_aggregates_respect_their_limit_of_bytes(spark: SparkSession, stream: Stream) -> None:
    sink(stream, max_aggregate_bytes=2048).write(numbered(spark, 200).drop("n"))
    sizes = [record.size for record in packed(stream)]
    assert max(sizes) <= 2048
    assert sorted(sizes)[len(sizes) // 2] > 1900, "they are not filled"


@on_simulator
def test_aggregates_respect_their_limit_of_rows(spark: SparkSession, stream: Stream) -> None:
    sink(stream, max_aggregate_records=30).write(numbered(spark, 200).drop("n"))
    counts = [len(record.inside) for record in packed(stream) if record.is_aggregate]
    assert max(counts) == 30
    assert_read(spark, stream, written(200))


@pytest.mark.spark4
def test_explicit_hash_keys_choose_the_shard(
    spark: SparkSession, new_stream: Callable[..., Stream]
) -> None:
    stream = new_stream(shards=4)
    width = (MAX_HASH_KEY + 1) // 4
    # The rows of a key go to all shards, wherever the key itself would go.
    rows = [(f"key-{n % 5}", f"{n}", str(n % 4 * width + n)) for n in range(800)]
    frame = spark.createDataFrame(rows, "partitionKey string, data string, explicitHashKey string")
    sink(stream).write(frame.repartition(2))
    assert_read(spark, stream, sorted((key, data.encode()) for key, data, _ in rows))
    assert dropped_by_kcl(stream) == 0
    assert len({record.shard for record in packed(stream)}) == 4
    assert len(packed(stream)) < 80
    found = stream.source().read(spark).select("data", "explicitHashKey").collect()
    owner = {data.encode(): int(chosen) // width for _, data, chosen in rows}
    assert all(int(chosen) // width == owner[bytes(data)] for data, chosen in found), (
        "of the aggregate"
    )


def test_a_single_row_is_a_plain_record(
    spark: SparkSession, new_stream: Callable[..., Stream]
) -> None:
    stream = new_stream(shards=4)
    starts = [shard["HashKeyRange"]["StartingHashKey"] for shard in stream.open_shards()]
    rows = [(f"key-{n}", f"row {n}", start) for n, start in enumerate(starts)]
    frame = spark.createDataFrame(rows, "partitionKey string, data string, explicitHashKey string")
    sink(stream).write(frame.coalesce(1))
    assert sorted(stream.read_all()) == [(key, data.encode()) for key, data, _ in rows]
    assert_read(spark, stream, sorted(stream.read_all()))


@on_simulator
@pytest.mark.parametrize("times", [1, 3])
def test_a_row_whose_data_is_an_aggregate_stays_one_row(
    spark: SparkSession, stream: Stream, times: int
) -> None:
    rows = [("key", GOLDEN.read_bytes())] * times
    sink(stream).write(spark.createDataFrame(rows, "partitionKey string, data binary").coalesce(1))
    assert_read(spark, stream, rows)


@on_simulator
def test_a_row_waits_for_others_as_long_as_linger(
    spark: SparkSession, new_stream: Callable[..., Stream]
) -> None:
    sleep = "reflect('java.lang.Thread', 'sleep', 20L)"  # a task with slow rows
    slow = spark.range(0, 60, 1, 1).selectExpr(
        f"concat(id, ' ', {sleep}) AS data", "'k' AS partitionKey"
    )
    counts = []
    for seconds in (0.1, 60.0):
        stream = new_stream()
        sink(stream, linger=timedelta(seconds=seconds)).write(slow)
        counts.append(len(packed(stream)))
        assert len(read_by_kcl(stream)) == 60
    assert 1 < counts[0] < 60
    assert counts[1] == 1


def has_more(save: Future[None], stream: Stream, before: set[str]) -> bool:
    """Whether other shards than before have records. Raises the error of the write."""
    assert_ongoing(save)
    return bool({record.shard for record in packed(stream)} - before)


@on_simulator
@pytest.mark.service
@pytest.mark.parametrize("order", [{}, ORDERED], ids=["unordered", "ordered"])
def test_no_row_is_lost_while_shards_change(
    spark: SparkSession, stream: Stream, order: dict[str, Any]
) -> None:
    frame = numbered(spark, 1000) if order else numbered(spark, 1000).drop("n")
    to = sink(stream, max_in_flight_requests=2, **SMALL, **order)
    server = LocalEndpoint(stream.endpoint)
    slow = {"operation": "PutRecords", "stream": stream.name, "seconds": 0.2}
    with ThreadPoolExecutor(1) as pool, server.fault("stall", **slow):  # type: ignore[arg-type]
        save = pool.submit(to.write, frame)
        wait_for("the first records", lambda: has_more(save, stream, set()))
        first = {shard["ShardId"] for shard in stream.all_shards()}
        stream.split()
        wait_for("records after the split", lambda: has_more(save, stream, first))
        second = {shard["ShardId"] for shard in stream.all_shards()}
        stream.merge(1)
        wait_for("records after the merge", lambda: has_more(save, stream, second))
    save.result()
    if order:
        assert_read_in_order(spark, stream, 1000, may_repeat=True)
        # KCL gets no row twice, because it drops the first copy of rows that were written again.
        assert sorted(read_by_kcl(stream)) == written(1000)
        assert dropped_by_kcl(stream) > 0, "no aggregate was between two shards"
    else:
        assert_read(spark, stream, written(1000))
        assert dropped_by_kcl(stream) == 0


@on_simulator
@pytest.mark.service
@pytest.mark.parametrize(
    ("fault", "rate", "order"),
    [
        ("throttle", 0.3, ORDERED),
        ("partial-put", 0.5, ORDERED),
        ("partial-put", 0.5, {}),
        ("answer-lost", 0.2, ORDERED),
    ],
)
def test_no_row_is_lost_under_faults(
    spark: SparkSession, stream: Stream, fault: FaultName, rate: float, order: dict[str, Any]
) -> None:
    server = LocalEndpoint(stream.endpoint)
    how = {"operation": "PutRecords", "stream": stream.name, "rate": rate, "seed": 7, "times": 20}
    frame = numbered(spark, 300) if order else numbered(spark, 300).drop("n")
    with server.fault(fault, **how) as struck:  # type: ignore[arg-type]
        sink(stream, **SMALL, **order).write(frame)
        assert struck.struck > 0
    if order:
        assert_read_in_order(spark, stream, 300, may_repeat=fault == "answer-lost")
    else:
        assert_read(spark, stream, written(300))
    assert dropped_by_kcl(stream) == 0
