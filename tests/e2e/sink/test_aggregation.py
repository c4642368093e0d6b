"""`aggregation=kpl`: fewer Kinesis records, and every reader gets all rows."""

from __future__ import annotations

from concurrent.futures import ThreadPoolExecutor
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
    from pathlib import Path

    from pyspark.sql import DataFrame, SparkSession

    from spark_kinesis import KinesisSink

KEYS = 40  # each of two tasks has keys in every quarter of the hash keys
ORDERED: dict[str, Any] = {"ordering": "per_key", "order_by": "n"}
# Many small Kinesis records, in many requests.
SMALL: dict[str, Any] = {"max_aggregate_bytes": 1024, "max_buffered_bytes": 8192}
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
