"""Batch and streaming writes."""

from __future__ import annotations

import json
from typing import TYPE_CHECKING

import pytest

from tests.e2e.support.streams import wait_for

if TYPE_CHECKING:
    from collections.abc import Callable
    from pathlib import Path

    from pyspark.sql import SparkSession

    from tests.e2e.support.streams import Stream

RECORD_LIMIT = 1 << 20  # data and partition key together, by default


def test_all_rows_of_a_batch_write_arrive(spark: SparkSession, stream: Stream) -> None:
    rows = [(f"key-{n % 7}", f"line {n}") for n in range(3000)]
    frame = spark.createDataFrame(rows, "partitionKey string, data string").repartition(3)
    stream.sink().write(frame)
    arrived = stream.read_all()
    assert sorted(arrived) == sorted((key, line.encode()) for key, line in rows)


def test_a_query_reads_one_stream_and_writes_another(
    spark: SparkSession, new_stream: Callable[..., Stream], checkpoint: Path
) -> None:
    inlet, outlet = new_stream(), new_stream()
    inlet.put(300)
    frame = (
        inlet.source().read_stream(spark).selectExpr("partitionKey", "upper(string(data)) AS data")
    )
    query = (
        outlet.sink().write_stream(frame, checkpoint_location=checkpoint, query_name="copy").start()
    )
    try:
        inlet.put(300)

        def arrived() -> bool:
            assert query.isActive, query.exception()
            return len(set(outlet.read_all())) >= len(inlet.written)

        wait_for("every record in the second stream", arrived)
    finally:
        query.stop()
    expected = {(w.key, json.dumps({"key": w.key, "n": w.n}).upper()) for w in inlet.written}
    assert {(key, data.decode()) for key, data in outlet.read_all()} == expected


def test_a_restarted_query_continues_where_it_stopped(
    spark: SparkSession, new_stream: Callable[..., Stream], checkpoint: Path
) -> None:
    inlet, outlet = new_stream(), new_stream()
    frame = inlet.source().read_stream(spark).select("partitionKey", "data")
    for _ in range(2):
        inlet.put(100)
        query = outlet.sink().write_stream(frame, checkpoint_location=checkpoint).start()
        try:
            wait_for("all so far", lambda: len(set(outlet.read_all())) == len(inlet.written))
        finally:
            query.stop()


def test_the_record_limit_is_exact(spark: SparkSession, stream: Stream) -> None:
    key = "four"
    largest = bytes(RECORD_LIMIT - len(key))
    schema = "partitionKey string, data binary"
    stream.sink().write(spark.createDataFrame([(key, largest)], schema))
    assert [len(data) for _, data in stream.read_all()] == [len(largest)]
    says = f"take {RECORD_LIMIT + 1} bytes, and the stream allows {RECORD_LIMIT}"
    with pytest.raises(Exception, match=rf"KINESIS_INVALID_ROW.*Row 1 .*{says}"):
        stream.sink().write(spark.createDataFrame([(key, largest + b"x")], schema))
    assert len(stream.read_all()) == 1


def test_progress_reports_the_counts_of_the_sink(
    spark: SparkSession, new_stream: Callable[..., Stream], checkpoint: Path
) -> None:
    inlet, outlet = new_stream(), new_stream()
    inlet.put(300)
    frame = inlet.source().read_stream(spark).select("partitionKey", "data")
    query = (
        outlet.sink().write_stream(frame, checkpoint_location=checkpoint, query_name="told").start()
    )
    try:
        wait_for("all is there", lambda: len(outlet.read_all()) >= len(inlet.written))
        query.processAllAvailable()
    finally:
        query.stop()
    told = [dict(progress["sink"]["metrics"]) for progress in query.recentProgress]
    total = {name: sum(int(one[name]) for one in told) for name in ("recordsWritten", "requests")}
    size = sum(len(key) + len(data) for key, data in outlet.read_all())
    assert total["recordsWritten"] == len(inlet.written)
    assert sum(int(one["bytesWritten"]) for one in told) == size
    assert 1 <= total["requests"] <= len(inlet.written)
    assert {one["throttledRecords"] for one in told} == {"0"}
