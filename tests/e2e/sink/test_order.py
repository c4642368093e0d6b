"""`ordering=perKey`: which task writes which rows, and whether each key arrives in order."""

from __future__ import annotations

from concurrent.futures import ThreadPoolExecutor
from typing import TYPE_CHECKING, Any

import pytest

from spark_kinesis.local import LocalEndpoint
from tests.e2e.support.harness import assert_ongoing
from tests.e2e.support.streams import Stream, wait_for
from tests.e2e.support.verdict import assert_written_in_order

if TYPE_CHECKING:
    from collections.abc import Callable
    from concurrent.futures import Future
    from pathlib import Path

    from pyspark.sql import DataFrame, SparkSession
    from pyspark.sql.streaming.query import StreamingQuery

    from spark_kinesis import KinesisSink

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


def _is_written(query: StreamingQuery, stream: Stream, count: int) -> bool:
    assert query.isActive, query.exception()
    return len(set(stream.read_all())) == count


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
