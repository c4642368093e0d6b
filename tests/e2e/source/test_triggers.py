"""Triggers that end by themselves, and the number of tasks per batch."""

from __future__ import annotations

import threading
from typing import TYPE_CHECKING, Any

import pytest

from spark_kinesis import KinesisSource, TrimHorizon
from spark_kinesis.local import LocalEndpoint
from tests.e2e.support.harness import Collector, await_end, running
from tests.e2e.support.streams import LOCAL, PATIENCE_SECONDS, REGION, Stream, wait_for
from tests.e2e.support.verdict import assert_exactly_once_in_order

if TYPE_CHECKING:
    from collections.abc import Callable
    from pathlib import Path

    from pyspark.sql import DataFrame, SparkSession


def run_to_its_end(
    spark: SparkSession, source: KinesisSource, checkpoint: Path, sink: Any, **trigger: bool
) -> None:
    """Run a query that ends by itself."""
    writer = source.read_stream(spark).writeStream.foreachBatch(sink).trigger(**trigger)
    query = writer.option("checkpointLocation", str(checkpoint)).start()
    await_end(query)


@pytest.mark.parametrize("limits", [{}, {"max_records_per_trigger": 10}])
def test_once_is_refused_with_the_trigger_to_use_instead(
    spark: SparkSession, stream: Stream, checkpoint: Path, limits: dict[str, int]
) -> None:
    stream.put(40)
    collector = Collector()
    with pytest.raises(Exception, match=r"KINESIS_UNSUPPORTED_TRIGGER.*availableNow=True"):
        run_to_its_end(spark, stream.source(**limits), checkpoint, collector, once=True)
    assert collector.rows == []
    run_to_its_end(spark, stream.source(**limits), checkpoint, collector, availableNow=True)
    assert_exactly_once_in_order(stream.written, collector.numbered())


def test_process_all_available_is_not_refused(
    spark: SparkSession, stream: Stream, checkpoint: Path
) -> None:
    stream.put(40)
    collector = Collector()
    with running(spark, stream.source(), checkpoint, collector) as query:
        collector.wait(query, stream.written)
        query.processAllAvailable()
    assert_exactly_once_in_order(stream.written, collector.numbered())


def test_available_now_without_new_records_ends(
    spark: SparkSession, stream: Stream, checkpoint: Path
) -> None:
    collector = Collector()
    stream.put(40)
    for _ in range(2):
        run_to_its_end(spark, stream.source(), checkpoint, collector, availableNow=True)
    assert_exactly_once_in_order(stream.written, collector.numbered())


def test_available_now_across_a_reshard_during_the_run_of_two_streams(
    spark: SparkSession, new_stream: Callable[..., Stream], checkpoint: Path
) -> None:
    streams = [new_stream(shards=2) for _ in range(2)]
    for stream in streams:
        stream.put(400)
    source = KinesisSource(
        stream_name=[stream.name for stream in streams],
        region=REGION,
        endpoint=streams[0].endpoint,
        credentials=LOCAL,
        starting_position=TrimHorizon(),
        max_records_per_trigger=150,
    )
    collectors = [Collector(), Collector()]
    has_begun, is_resharded = threading.Event(), threading.Event()

    def sink(frame: DataFrame, batch: int) -> None:
        for stream, collector in zip(streams, collectors, strict=True):
            collector(frame.where(frame["stream"] == stream.name), batch)
        has_begun.set()
        assert is_resharded.wait(PATIENCE_SECONDS)

    def reshard() -> None:
        has_begun.wait(PATIENCE_SECONDS)
        for stream in streams:
            stream.split()
            stream.merge(1)
        is_resharded.set()

    resharding = threading.Thread(target=reshard, daemon=True)
    resharding.start()
    before = [list(stream.written) for stream in streams]
    run_to_its_end(spark, source, checkpoint, sink, availableNow=True)
    for written, collector in zip(before, collectors, strict=True):
        assert_exactly_once_in_order(written, collector.numbered())
        assert len({row.batch for row in collector.rows}) >= 3
    for stream in streams:
        stream.put(100)
    run_to_its_end(spark, source, checkpoint, sink, availableNow=True)
    for stream, collector in zip(streams, collectors, strict=True):
        assert_exactly_once_in_order(stream.written, collector.numbered())


def test_many_shards_make_few_tasks_and_one_shard_makes_many(
    spark: SparkSession, simulator: str, tmp_path: Path
) -> None:
    kinesis = LocalEndpoint(simulator)

    def tasks(stream: Stream, **options: int) -> list[int]:
        """Return the number of tasks of each batch: the second reads all that the first left."""
        collector, counts = Collector(), list[int]()

        def count(frame: DataFrame, batch: int) -> None:
            collector(frame, batch)
            counts.append(frame.rdd.getNumPartitions())
            wait_for("all is fetched", lambda: kinesis.stats().records_read >= len(stream.written))

        checkpoint = tmp_path / stream.name
        kinesis.reset_stats()
        run_to_its_end(spark, stream.source(**options), checkpoint, count, availableNow=True)
        assert sorted((r.key, r.n) for r in collector.rows) == sorted(
            (w.key, w.n) for w in stream.written
        )
        return counts

    slots = spark.sparkContext.defaultParallelism
    wide, narrow = Stream(simulator, shards=500), Stream(simulator, shards=1)
    for part in range(5):
        wide.put(400, keys=tuple(f"key-{part}-{number}" for number in range(400)))
    assert max(tasks(wide)) <= slots
    narrow.put(400)
    pages = {"max_records_per_fetch": 20, "min_partitions": slots + 3}
    assert max(tasks(narrow, **pages)) == slots + 3


def test_progress_reports_shards_and_lag(
    spark: SparkSession, stream: Stream, checkpoint: Path
) -> None:
    day = 24 * 3600 * 1000
    stream.put(100)
    stream.split()
    stream.put(100)
    collector = Collector()

    def metrics() -> dict[str, str]:
        progress = query.lastProgress
        return dict(progress["sources"][0]["metrics"]) if progress else {}

    with running(spark, stream.source(), checkpoint, collector) as query:
        collector.wait(query, stream.written)
        wait_for("a shard is closed", lambda: metrics().get("closedShards") == "1")
        wait_for("its children are open", lambda: metrics()["openShards"] == "3")
        wait_for("all is counted", lambda: int(metrics()["fetchedRecords"]) >= 200)
        told, progress = metrics(), query.recentProgress
    assert told["streams"] == "1"
    assert told["waitingShards"] == "0"
    assert int(told["maxFetchLagMs"]) >= int(told["minFetchLagMs"]) >= 0
    assert int(told["maxProcessingLagMs"]) >= 0
    assert int(told["requests"]) >= 4
    assert 0 < float(told["recordsPerFetch"]) <= 200
    assert int(told["p99FetchMs"]) >= 0
    full = [it["sources"][0]["metrics"] for it in progress if it["numInputRows"]]
    assert full
    assert all(0 <= int(it["p50LatencyMs"]) <= int(it["p99LatencyMs"]) < day for it in full)
    assert day // 2 < int(told["minMsToExpiry"]) <= day
