"""Scenarios in which connectors lose or repeat records, except resharding."""

from __future__ import annotations

import json
from typing import TYPE_CHECKING

import pytest

from spark_kinesis import Latest
from tests.e2e.support.harness import Collector, await_end, collected, drain, running, wait_started
from tests.e2e.support.streams import Stream, wait_for
from tests.e2e.support.verdict import assert_exactly_once_in_order

if TYPE_CHECKING:
    from collections.abc import Callable
    from pathlib import Path

    from pyspark.sql import DataFrame, SparkSession


def test_a_query_reads_all_records_from_the_trim_horizon(
    spark: SparkSession, stream: Stream, checkpoint: Path
) -> None:
    stream.put(400)
    collector = Collector()
    with running(spark, stream.source(), checkpoint, collector) as query:
        drain(stream, query, collector)
        stream.put(200)
        drain(stream, query, collector)
    assert_exactly_once_in_order(stream.written, collector.numbered())


def test_a_burst_after_an_idle_time_is_read_from_latest(
    spark: SparkSession, stream: Stream, checkpoint: Path
) -> None:
    stream.put(50)
    before = list(stream.written)
    collector = Collector()
    source = stream.source(starting_position=Latest())
    with running(spark, source, checkpoint, collector) as query:
        wait_started(checkpoint)
        stream.put(200)
        burst = stream.written[len(before) :]
        collector.wait(query, burst)
        collector.wait(query, stream.fence())
    assert_exactly_once_in_order(burst, collector.numbered())


def test_an_empty_record_between_others_is_read(
    spark: SparkSession, new_stream: Callable[..., Stream], checkpoint: Path
) -> None:
    stream = new_stream(shards=1)
    stream.put(10)
    stream.put_raw(b"", "empty")
    stream.put(300)
    collector = Collector()
    with running(spark, stream.source(), checkpoint, collector) as query:
        drain(stream, query, collector)
    rows = collector.numbered()
    assert [row.n for row in rows if row.key == "empty"] == [-1]
    assert_exactly_once_in_order(stream.written, [row for row in rows if row.key != "empty"])


def test_two_actions_on_a_batch_see_the_same_rows(
    spark: SparkSession, stream: Stream, checkpoint: Path
) -> None:
    collector = Collector()
    differences: list[int] = []

    def twice(frame: DataFrame, batch: int) -> None:
        first = {collected(row, batch) for row in frame.collect()}
        collector(frame, batch)
        again = {collected(row, batch) for row in frame.collect()}
        if first != again or len(first) != frame.count():
            differences.append(batch)

    stream.put(100)
    with running(spark, stream.source(), checkpoint, twice) as query:
        for _ in range(5):
            stream.put(100)
            collector.wait(query, stream.written)
        drain(stream, query, collector)
    assert differences == []
    assert_exactly_once_in_order(stream.written, collector.numbered())


@pytest.mark.filterwarnings("ignore::pytest.PytestUnhandledThreadExceptionWarning")
def test_a_failed_batch_runs_again_with_the_same_rows(
    spark: SparkSession, stream: Stream, checkpoint: Path
) -> None:
    collector = Collector()

    def fail_after(frame: DataFrame, batch: int) -> None:
        collector(frame, batch)
        if collector.rows:
            raise RuntimeError("made to fail")

    stream.put(150)
    with running(spark, stream.source(), checkpoint, fail_after) as query:
        wait_for("the query failed", lambda: not query.isActive)
    # More records have arrived, in these shards and in new ones. None may join the repeated batch.
    stream.put(150)
    stream.split()
    stream.put(150)
    with running(spark, stream.source(), checkpoint, collector) as query:
        drain(stream, query, collector)
    assert collector.reruns >= 1
    assert_exactly_once_in_order(stream.written, collector.numbered())


def test_batches_respect_the_limit_of_records(
    spark: SparkSession, stream: Stream, checkpoint: Path
) -> None:
    limit = 70
    stream.put(500)
    collector = Collector()
    source = stream.source(max_records_per_trigger=limit)
    with running(spark, source, checkpoint, collector) as query:
        drain(stream, query, collector)
    sizes: dict[int, int] = {}
    for row in collector.rows:
        sizes[row.batch] = sizes.get(row.batch, 0) + 1
    assert max(sizes.values()) <= limit
    assert_exactly_once_in_order(stream.written, collector.numbered())


def test_batches_respect_the_limit_of_bytes(
    spark: SparkSession, stream: Stream, checkpoint: Path
) -> None:
    limit = 2000
    stream.put(400)
    collector = Collector()
    source = stream.source(max_bytes_per_trigger=limit)
    with running(spark, source, checkpoint, collector) as query:
        drain(stream, query, collector)
    sizes: dict[int, int] = {}
    for row in collector.rows:
        data = json.dumps({"key": row.key, "n": row.n})
        sizes[row.batch] = sizes.get(row.batch, 0) + len(data)
    assert max(sizes.values()) <= limit
    assert_exactly_once_in_order(stream.written, collector.numbered())


def test_available_now_reads_all_records_and_ends(
    spark: SparkSession, stream: Stream, checkpoint: Path
) -> None:
    collector = Collector()
    for _ in range(2):
        stream.put(150)
        stream.split()
        stream.put(150)
        frame = stream.source(max_records_per_trigger=100).read_stream(spark)
        writer = frame.writeStream.foreachBatch(collector).trigger(availableNow=True)
        query = writer.option("checkpointLocation", str(checkpoint)).start()
        await_end(query)
        assert_exactly_once_in_order(stream.written, collector.numbered())
