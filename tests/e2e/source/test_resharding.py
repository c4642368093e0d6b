"""Splits and merges while a query runs, is behind, or is stopped."""

from __future__ import annotations

from typing import TYPE_CHECKING

from spark_kinesis import Latest
from tests.e2e.support.harness import Collector, drain, running, wait_started
from tests.e2e.support.streams import Stream, wait_for
from tests.e2e.support.verdict import assert_exactly_once_in_order

if TYPE_CHECKING:
    from collections.abc import Callable
    from pathlib import Path

    from pyspark.sql import DataFrame, SparkSession


def test_a_split_before_the_first_start_loses_no_record(
    spark: SparkSession, stream: Stream, checkpoint: Path
) -> None:
    stream.put(200)
    stream.split()
    stream.put(200)
    collector = Collector()
    with running(spark, stream.source(), checkpoint, collector) as query:
        drain(stream, query, collector)
    assert_exactly_once_in_order(stream.written, collector.numbered())


def test_a_split_while_a_query_is_behind_loses_no_record(
    spark: SparkSession, new_stream: Callable[..., Stream], checkpoint: Path
) -> None:
    stream = new_stream(shards=1)
    stream.put(800)
    collector = Collector()
    source = stream.source(max_records_per_trigger=200)
    with running(spark, source, checkpoint, collector) as query:
        wait_for("the first rows", lambda: len(collector.rows) > 0)
        stream.split()
        stream.put(200)
        drain(stream, query, collector)
    assert_exactly_once_in_order(stream.written, collector.numbered())


def test_a_split_between_writes_during_a_stop_loses_no_record(
    spark: SparkSession, stream: Stream, checkpoint: Path
) -> None:
    collector = Collector()
    source = stream.source(starting_position=Latest())
    with running(spark, source, checkpoint, collector):
        wait_started(checkpoint)
    stream.put(50)
    stream.split()
    stream.put(50)
    with running(spark, source, checkpoint, collector) as query:
        drain(stream, query, collector)
    assert_exactly_once_in_order(stream.written, collector.numbered())


def test_a_merge_after_a_split_loses_no_record(
    spark: SparkSession, stream: Stream, checkpoint: Path
) -> None:
    collector = Collector()
    stream.put(100)
    with running(spark, stream.source(), checkpoint, collector) as query:
        collector.wait(query, stream.written)
        stream.split()
        stream.put(100)
        stream.merge(1)
        stream.put(100)
        drain(stream, query, collector)
    assert_exactly_once_in_order(stream.written, collector.numbered())


def test_a_reshard_during_a_stop_loses_no_record(
    spark: SparkSession, stream: Stream, checkpoint: Path
) -> None:
    collector = Collector()
    stream.put(100)
    with running(spark, stream.source(), checkpoint, collector) as query:
        collector.wait(query, stream.written)
    for reshard in (stream.split, stream.merge, stream.split):
        stream.put(60)
        reshard()
    stream.put(60)
    with running(spark, stream.source(), checkpoint, collector) as query:
        drain(stream, query, collector)
    assert_exactly_once_in_order(stream.written, collector.numbered())


def test_a_quiet_stream_after_a_split_runs_no_batches(
    spark: SparkSession, stream: Stream, checkpoint: Path
) -> None:
    stream.put(50)
    collector = Collector()
    empty: list[int] = []

    def count_empty(frame: DataFrame, batch: int) -> None:
        collector(frame, batch)
        if frame.isEmpty():
            empty.append(batch)

    with running(spark, stream.source(), checkpoint, count_empty) as query:
        collector.wait(query, stream.written)
        stream.split()
        drain(stream, query, collector)
        drain(stream, query, collector)
    # The start and the split may each cause a batch without rows; a quiet stream may not.
    assert len(empty) <= 4
