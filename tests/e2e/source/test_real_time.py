"""Spark's real-time mode from Kinesis to Kinesis: rows arrive while their batch runs."""

from __future__ import annotations

import json
import os
import signal
import sys
from collections import Counter
from contextlib import contextmanager
from datetime import timedelta
from typing import TYPE_CHECKING, Any

import pytest

from spark_kinesis import stop_gracefully
from tests.e2e.support.processes import executors
from tests.e2e.support.programs import application, told
from tests.e2e.support.real_time import LONG, needs_real_time, real_time, real_time_settings
from tests.e2e.support.streams import CONSUMERS, FENCE, Stream, wait_for
from tests.e2e.support.verdict import assert_written_in_order

if TYPE_CHECKING:
    from collections.abc import Iterator
    from pathlib import Path

    from pyspark.sql import SparkSession
    from pyspark.sql.streaming.query import StreamingQuery

pytestmark = [
    needs_real_time,
    pytest.mark.parametrize("kinesis", ["simulator"], indirect=True),
]


@pytest.fixture
def live(spark: SparkSession) -> Iterator[SparkSession]:
    """The session, with real-time mode set up."""
    settings = real_time_settings()
    for name, value in settings.items():
        spark.conf.set(name, value)
    yield spark
    for name in settings:
        spark.conf.unset(name)


@contextmanager
def copying(
    spark: SparkSession,
    source: Stream,
    target: Stream,
    checkpoint: Path,
    duration: str = LONG,
    **options: Any,
) -> Iterator[StreamingQuery]:
    """A query that copies a stream, without its fences. It is stopped at the end."""
    rows = source.source(**options).read_stream(spark)
    rows = rows.where(rows.partitionKey != FENCE).select("partitionKey", "data")
    writer = target.sink(ordering="per_key").write_stream(rows, checkpoint_location=checkpoint)
    query = real_time(writer, spark, duration).start()
    try:
        yield query
    finally:
        query.stop()


def arrived(target: Stream) -> list[tuple[str, int]]:
    """Key and number of each record in a stream of one shard, in order."""
    bodies = [json.loads(data) for _, data in target.read_all()]
    return [(body["key"], body["n"]) for body in bodies]


def wait_copied(query: StreamingQuery, source: Stream, target: Stream) -> None:
    """Wait until every record has arrived."""
    wanted = {(written.key, written.n) for written in source.written}

    def is_copied() -> bool:
        assert query.isActive, query.exception()
        return wanted <= set(arrived(target))

    wait_for("every record is copied", is_copied)


def counts(source: Stream) -> dict[str, int]:
    """The number of records of each key."""
    return dict(Counter(written.key for written in source.written))


@pytest.mark.parametrize("mode", CONSUMERS)
def test_rows_arrive_in_the_batch_through_a_split_and_a_planned_stop(
    live: SparkSession, new_stream: Any, checkpoint: Path, mode: str
) -> None:
    source, target = new_stream(2), new_stream(1)
    source.put(200)
    with copying(live, source, target, checkpoint, consumer=CONSUMERS[mode]) as query:
        wait_copied(query, source, target)
        assert query.lastProgress is None, "the first batch runs"
        source.split()
        source.put(200)
        wait_copied(query, source, target)
        source.merge(1)
        source.put(200)
        wait_copied(query, source, target)
        assert stop_gracefully(query, timedelta(seconds=60))
    source.put(200)
    with copying(live, source, target, checkpoint, consumer=CONSUMERS[mode]) as query:
        wait_copied(query, source, target)
    assert_written_in_order(counts(source), arrived(target))


def test_batch_follows_batch_without_a_gap_or_a_repetition(
    live: SparkSession, new_stream: Any, checkpoint: Path
) -> None:
    source, target = new_stream(2), new_stream(1)
    with copying(live, source, target, checkpoint, "5 seconds") as query:
        while len(query.recentProgress) < 3:
            source.put(40)
            assert query.isActive, query.exception()
        wait_copied(query, source, target)
        recent = query.recentProgress
    metrics = recent[-1].sources[0].metrics
    assert_written_in_order(counts(source), arrived(target))
    assert metrics["openShards"] == "2"
    assert metrics["rereadRanges"] == "0"
    full = [it.sources[0].metrics for it in recent if it.numInputRows]
    assert full
    assert all(0 <= int(it["p50LatencyMs"]) <= int(it["p99LatencyMs"]) for it in full)


def test_a_stop_repeats_the_batch_and_loses_nothing(
    live: SparkSession, new_stream: Any, checkpoint: Path
) -> None:
    source, target = new_stream(2), new_stream(1)
    for _ in range(2):
        source.put(200)
        with copying(live, source, target, checkpoint) as query:
            wait_copied(query, source, target)
    assert_written_in_order(counts(source), arrived(target), may_repeat=True)
    assert len(arrived(target)) == 600


def test_micro_batches_go_on_after_real_time_mode(
    live: SparkSession, new_stream: Any, checkpoint: Path
) -> None:
    source, target = new_stream(2), new_stream(1)
    source.put(200)
    with copying(live, source, target, checkpoint) as query:
        wait_copied(query, source, target)
        assert stop_gracefully(query, timedelta(seconds=60))
    source.put(200)
    rows = source.source().read_stream(live).select("partitionKey", "data")
    query = target.sink().write_stream(rows, checkpoint_location=checkpoint).start()
    try:
        wait_copied(query, source, target)
    finally:
        query.stop()
    assert_written_in_order(counts(source), arrived(target))


def test_options_of_micro_batches_are_refused(
    live: SparkSession, new_stream: Any, checkpoint: Path
) -> None:
    source, target = new_stream(1), new_stream(1)
    with (
        copying(live, source, target, checkpoint, max_records_per_trigger=10) as query,
        pytest.raises(Exception, match=r"CONFLICTING_OPTIONS.*maxRecordsPerTrigger.*real-time"),
    ):
        query.awaitTermination(120)


@pytest.mark.parametrize("change", ["another key", "a shuffle"])
def test_order_is_refused_if_the_query_does_not_keep_it(
    live: SparkSession, new_stream: Any, checkpoint: Path, change: str
) -> None:
    source, target = new_stream(1), new_stream(1)
    rows = source.source().read_stream(live).select("partitionKey", "data")
    if change == "another key":
        rows = rows.selectExpr("concat(partitionKey, '!') AS partitionKey", "data")
    else:
        rows = rows.repartition(2)
    sink = target.sink(ordering="per_key")
    writer = sink.write_stream(rows, checkpoint_location=checkpoint)
    query = real_time(writer, live, LONG).start()
    try:
        with pytest.raises(Exception, match=r"CONFLICTING_OPTIONS.*'ordering' to none"):
            query.awaitTermination(120)
    finally:
        query.stop()


@pytest.mark.skipif(sys.platform != "linux", reason="finds processes in /proc")
@pytest.mark.parametrize("mode", CONSUMERS)
def test_a_killed_executor_loses_nothing(new_stream: Any, tmp_path: Path, mode: str) -> None:
    source, target = new_stream(2), new_stream(1)
    source.put(200)
    arguments = (source.endpoint, source.name, target.name, mode)
    with application("live_copy", *arguments, folder=tmp_path) as driver:
        said = told(tmp_path)

        def is_copied() -> bool:
            assert driver.poll() is None, "the program ended"
            return {(it.key, it.n) for it in source.written} <= set(arrived(target))

        wait_for("every record is copied", is_copied)
        for _ in range(2):
            wait_for("three executors", lambda: len(executors(said["application"])) == 3)
            os.kill(max(executors(said["application"]).items())[1], signal.SIGKILL)
            source.split()
            source.put(200)
            wait_for("every record is copied", is_copied)
        (tmp_path / "stop").touch()
        assert driver.wait(60) == 0
    assert_written_in_order(counts(source), arrived(target), may_repeat=True)
