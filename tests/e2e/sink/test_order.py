"""`ordering=perKey`: which task writes which rows, and whether each key arrives in order."""

from __future__ import annotations

from concurrent.futures import ThreadPoolExecutor
from typing import TYPE_CHECKING, Any

import pytest

from spark_kinesis.local import LocalEndpoint
from tests.e2e.support.harness import assert_ongoing
from tests.e2e.support.streams import Stream, wait_for
from tests.e2e.support.verdict import assert_written_in_order, first_of_each

if TYPE_CHECKING:
    from collections.abc import Callable
    from concurrent.futures import Future
    from pathlib import Path

    from pyspark.sql import DataFrame, SparkSession
    from pyspark.sql.streaming.query import StreamingQuery

    from spark_kinesis import KinesisSink
    from spark_kinesis.local import FaultName

SLOTS = 2  # cores of the session, and partitions of its shuffles
UPSTREAM = 8
KEYS = 25
on_simulator = pytest.mark.parametrize("kinesis", ["simulator"], indirect=True)


def sink(stream: Stream, **options: Any) -> KinesisSink:
    """A sink that orders by the column ``n``."""
    given = {"ordering": "per_key", "order_by": "n", **options}
    return stream.sink(**given)


def shuffled(spark: SparkSession, each: int) -> DataFrame:
    """The numbers of every key, in random order over all partitions."""
    count = KEYS * each
    mixed = spark.range(0, count, 1, UPSTREAM).selectExpr(f"(id * 7919) % {count} AS i")
    return mixed.selectExpr(
        f"concat('key-', i % {KEYS}) AS partitionKey",
        f"string(i div {KEYS}) AS data",
        f"i div {KEYS} AS n",
    )


def expected(each: int) -> dict[str, int]:
    """The count of numbers of each key."""
    return {f"key-{key}": each for key in range(KEYS)}


def arrived(stream: Stream) -> list[tuple[str, int]]:
    """Key and number of all records, each key in the order of its records in the stream."""
    return [(key, int(data)) for key, data in stream.read_all()]


def last_tasks(spark: SparkSession, group: str) -> int:
    """The number of tasks of the last stage of a job group."""
    tracker = spark.sparkContext.statusTracker()
    jobs = [tracker.getJobInfo(job) for job in tracker.getJobIdsForGroup(group)]
    stages = [stage for job in jobs if job is not None for stage in job.stageIds]
    found = tracker.getStageInfo(max(stages))
    assert found is not None
    return int(found.numTasks)


def written_by(spark: SparkSession, sink: KinesisSink, frame: DataFrame, group: str) -> int:
    """Write. Returns the number of tasks that wrote."""
    spark.sparkContext.setJobGroup(group, "a write")
    try:
        sink.write(frame)
    finally:
        spark.sparkContext.setLocalProperty("spark.jobGroup.id", None)  # type: ignore[arg-type]
    return last_tasks(spark, group)


def test_a_batch_write_keeps_the_order(spark: SparkSession, stream: Stream) -> None:
    assert written_by(spark, sink(stream), shuffled(spark, 80), stream.name) == SLOTS
    assert_written_in_order(expected(80), arrived(stream))


def test_without_the_option_no_rows_are_shuffled(spark: SparkSession, stream: Stream) -> None:
    plain = sink(stream, ordering=None, order_by=None)
    assert written_by(spark, plain, shuffled(spark, 4).drop("n"), stream.name) == UPSTREAM


def test_few_rows_are_not_put_into_one_task(spark: SparkSession, stream: Stream) -> None:
    unsorted = sink(stream, order_by=None)
    assert written_by(spark, unsorted, shuffled(spark, 1).drop("n"), stream.name) == SLOTS


def explained(query: StreamingQuery) -> str:
    """The plan of the last micro-batch."""
    return str(query._jsq.explainInternal(False))  # noqa: FBT003 the JVM's own


def written_until(
    spark: SparkSession, outlet: Stream, frame: DataFrame, checkpoint: Path, count: int
) -> tuple[str, int]:
    """Run a query until it has written some records. Returns its last plan and number of tasks."""
    query = sink(outlet).write_stream(frame, checkpoint_location=checkpoint).start()
    try:
        wait_for("all so far", lambda: _is_written(query, outlet, count))
        query.processAllAvailable()  # otherwise the next run may write the last batch again
        return explained(query), last_tasks(spark, str(query.runId))
    finally:
        query.stop()


def test_a_streaming_query_keeps_the_order(
    spark: SparkSession, new_stream: Callable[..., Stream], checkpoint: Path
) -> None:
    inlet, outlet = new_stream(), new_stream()
    rows = inlet.source(max_records_per_trigger=400).read_stream(spark).repartition(UPSTREAM)
    numbers = rows.selectExpr("partitionKey", "get_json_object(string(data), '$.n') AS data")
    frame = numbers.withColumn("n", numbers.data.cast("int"))
    for _ in range(2):
        inlet.put(1000)
        plan, tasks = written_until(spark, outlet, frame, checkpoint, len(inlet.written))
        assert "hashpartitioning(partitionKey#" in plan
        assert "REPARTITION_BY_NUM" in plan
        assert "Sort [n#" in plan
        assert tasks == SLOTS
    each = len(inlet.written) // len({one.key for one in inlet.written})
    assert_written_in_order({one.key: each for one in inlet.written}, arrived(outlet))


def test_update_mode_keeps_the_order(
    spark: SparkSession, new_stream: Callable[..., Stream], checkpoint: Path
) -> None:
    inlet, outlet = new_stream(), new_stream()
    inlet.put(400)
    rows = inlet.source(max_records_per_trigger=100).read_stream(spark)
    counts = (
        rows.groupBy("partitionKey")
        .count()
        .selectExpr("partitionKey", "string(count) AS data", "count AS n")
    )
    query = (
        sink(outlet)
        .write_stream(counts, checkpoint_location=checkpoint)
        .outputMode("update")
        .start()
    )
    totals = {one.key: one.n + 1 for one in inlet.written}
    try:
        wait_for("the last counts", lambda: _has_totals(query, outlet, totals))
    finally:
        query.stop()
    for counted in first_of_each(arrived(outlet)).values():
        assert counted == sorted(counted)


def _is_written(query: StreamingQuery, stream: Stream, count: int) -> bool:
    assert query.isActive, query.exception()
    return len(set(stream.read_all())) == count


def _has_totals(query: StreamingQuery, stream: Stream, totals: dict[str, int]) -> bool:
    assert query.isActive, query.exception()
    return dict(arrived(stream)) == totals


def test_a_write_in_for_each_batch_keeps_the_order(
    spark: SparkSession, new_stream: Callable[..., Stream], checkpoint: Path
) -> None:
    inlet, outlet = new_stream(), new_stream()
    inlet.put(600)
    frame = inlet.source().read_stream(spark)

    def write(batch: DataFrame, _: int) -> None:
        numbers = batch.selectExpr("partitionKey", "get_json_object(string(data), '$.n') AS data")
        mixed = numbers.withColumn("n", numbers.data.cast("int")).repartition(UPSTREAM)
        sink(outlet).write(mixed)

    query = frame.writeStream.foreachBatch(write).option("checkpointLocation", str(checkpoint))
    running = query.trigger(availableNow=True).start()
    running.awaitTermination()
    each = len(inlet.written) // len({one.key for one in inlet.written})
    assert_written_in_order({one.key: each for one in inlet.written}, arrived(outlet))


@on_simulator
@pytest.mark.service
@pytest.mark.parametrize(
    ("fault", "rate", "may_repeat"),
    [
        ("throttle", 0.3, False),
        ("partial-put", 0.5, False),
        ("internal-failure", 0.3, False),
        ("answer-lost", 0.2, True),
        ("reset", 0.2, False),
    ],
)
def test_the_order_is_kept_under_faults(
    spark: SparkSession, stream: Stream, fault: FaultName, rate: float, may_repeat: bool
) -> None:
    server = LocalEndpoint(stream.endpoint)
    how = {"operation": "PutRecords", "stream": stream.name, "rate": rate, "seed": 7, "times": 20}
    with server.fault(fault, **how) as struck:  # type: ignore[arg-type]
        sink(stream).write(shuffled(spark, 300))
        assert struck.struck > 0
    assert_written_in_order(expected(300), arrived(stream), may_repeat=may_repeat)


def has_begun(save: Future[None], stream: Stream) -> bool:
    """Whether records are written. Raises the error of the write."""
    assert_ongoing(save)
    return bool(stream.read_all())


@on_simulator
@pytest.mark.service
def test_the_order_is_kept_while_shards_change(spark: SparkSession, stream: Stream) -> None:
    server = LocalEndpoint(stream.endpoint)
    slow = {"operation": "PutRecords", "stream": stream.name, "seconds": 0.2}
    with ThreadPoolExecutor(1) as pool, server.fault("stall", **slow):  # type: ignore[arg-type]
        save = pool.submit(sink(stream).write, shuffled(spark, 2000))
        wait_for("the first records", lambda: has_begun(save, stream))
        stream.split()
        stream.merge(1)
        assert_ongoing(save)
    save.result()
    assert_written_in_order(expected(2000), arrived(stream))
    opened = {shard["ShardId"] for shard in stream.open_shards()}
    assert {record.shard_id for record in server.records(stream.name)} > opened
