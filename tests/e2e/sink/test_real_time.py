"""Spark's real-time mode: rows go to Kinesis while their batch runs."""

from __future__ import annotations

from collections import Counter
from contextlib import contextmanager
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

import pyspark
import pytest
from pyspark.sql import DataFrame, SparkSession

from spark_kinesis.local import LocalEndpoint
from tests.e2e.support.kpl import read_by_agg
from tests.e2e.support.real_time import LONG, PREFIX, needs_real_time, real_time, real_time_settings
from tests.e2e.support.streams import Stream, wait_for

if TYPE_CHECKING:
    from collections.abc import Iterator
    from pathlib import Path

    from pyspark.sql.streaming.query import StreamingQuery

    from spark_kinesis import KinesisSink

pytestmark = [
    needs_real_time,
    pytest.mark.parametrize("kinesis", ["simulator"], indirect=True),
]

Row = tuple[str, bytes]


@dataclass
class Memory:
    """Spark's own source for tests of the mode. A row is a text, which is its key and its data."""

    frame: DataFrame
    stream: Any
    spark: SparkSession

    def add(self, *rows: str) -> list[Row]:
        """Add rows, and return what the sink makes of them."""
        jvm: Any = self.spark._jvm
        self.stream.addData(jvm.PythonUtils.toSeq(list(rows)))
        return [(row, row.encode()) for row in rows]


@pytest.fixture
def memory(spark: SparkSession) -> Iterator[Memory]:
    """The source, in a session where real-time mode is set up."""
    settings = real_time_settings()
    for name, value in settings.items():
        spark.conf.set(name, value)
    sql: Any = spark._jvm.org.apache.spark.sql  # type: ignore[union-attr]
    source = sql.execution.streaming.sources.LowLatencyMemoryStream
    stream = source.apply(spark._jsparkSession, 1, sql.Encoders.STRING())
    frame = DataFrame(stream.toDF(), spark).selectExpr("value AS partitionKey", "value AS data")
    yield Memory(frame, stream, spark)
    for name in settings:
        spark.conf.unset(name)


@contextmanager
def running(
    memory: Memory, target: KinesisSink, checkpoint: Path, duration: str = LONG
) -> Iterator[StreamingQuery]:
    """A query in real-time mode, stopped at the end."""
    writer = target.write_stream(memory.frame, checkpoint_location=checkpoint)
    query = real_time(writer, memory.spark, duration).start()
    try:
        yield query
    finally:
        query.stop()


def rows_of_batches(query: StreamingQuery) -> int:
    """The number of rows in the batches that have ended."""
    return sum(progress.numInputRows for progress in query.recentProgress)


def test_rows_are_written_while_their_batch_runs(
    memory: Memory, stream: Stream, checkpoint: Path
) -> None:
    with running(memory, stream.sink(), checkpoint) as query:
        rows = memory.add("a", "b")
        wait_for("the first rows", lambda: Counter(stream.read_all()) == Counter(rows))
        rows += memory.add("c")
        wait_for("a later row", lambda: Counter(stream.read_all()) == Counter(rows))
        assert query.isActive
        assert query.lastProgress is None, "the first batch runs"


def test_an_open_aggregate_does_not_wait_for_the_end_of_the_batch(
    memory: Memory, stream: Stream, checkpoint: Path
) -> None:
    rows: list[Row] = []
    with running(memory, stream.sink(aggregation="kpl"), checkpoint) as query:
        for number in range(3):
            rows.extend(memory.add(*(f"{number}-{n}" for n in range(5))))
            wait_for("the rows", lambda: Counter(read_by_agg(stream)) == Counter(rows))
        assert query.lastProgress is None, "the first batch runs"


def test_batch_follows_batch(memory: Memory, stream: Stream, checkpoint: Path) -> None:
    rows: list[Row] = []
    with running(memory, stream.sink(), checkpoint, "5 seconds") as query:
        for number in range(3):
            rows.extend(memory.add(str(number)))
            wait_for("a batch with the row", lambda: rows_of_batches(query) == len(rows))
    assert Counter(stream.read_all()) == Counter(rows)


def test_a_failure_ends_a_query_that_waits_for_rows(
    memory: Memory, stream: Stream, checkpoint: Path
) -> None:
    server = LocalEndpoint(stream.endpoint)
    with running(memory, stream.sink(), checkpoint) as query:
        rows = memory.add("a")
        wait_for("the row", lambda: stream.read_all() == rows)
        with server.fault("access-denied", operation="PutRecords", stream=stream.name):
            memory.add("b")
            with pytest.raises(Exception, match=r"\[KINESIS_ACCESS_DENIED\]"):
                query.awaitTermination(120)
    assert stream.read_all() == rows


def test_a_restart_writes_the_interrupted_batch_again(
    memory: Memory, stream: Stream, checkpoint: Path
) -> None:
    with running(memory, stream.sink(), checkpoint):
        rows = memory.add("a", "b")
        wait_for("the rows", lambda: Counter(stream.read_all()) == Counter(rows))
    with running(memory, stream.sink(), checkpoint):
        wait_for("the rows again", lambda: Counter(stream.read_all()) == Counter(rows * 2))


@pytest.mark.parametrize(
    ("options", "words"),
    [
        ({"ordering": "per_key"}, r"KINESIS_CONFLICTING_OPTIONS.*'ordering' to none"),
        (
            {"delivery_guarantee": "exactly_once", "aggregation": "kpl"},
            r"KINESIS_EXACTLY_ONCE_UNSUPPORTED.*no real-time mode",
        ),
    ],
)
def test_what_needs_whole_batches_is_refused(
    memory: Memory, stream: Stream, checkpoint: Path, options: dict[str, str], words: str
) -> None:
    with (
        running(memory, stream.sink(**options), checkpoint) as query,
        pytest.raises(Exception, match=words),
    ):
        query.awaitTermination(120)
    assert stream.read_all() == []


@pytest.mark.parametrize("setting", ["allowlistCheck", "asyncProgressTrackingByDefault.enabled"])
def test_spark_refuses_the_sink_without_the_settings(
    memory: Memory, stream: Stream, checkpoint: Path, setting: str
) -> None:
    if setting.startswith("async") and pyspark.__version__ < "4.3":
        pytest.skip("this Spark has no such setting")
    memory.spark.conf.unset(PREFIX + setting)
    known = r"NOT_IN_ALLOWLIST.*KinesisTable|Sink kinesis does not support async progress tracking"
    with pytest.raises(Exception, match=known), running(memory, stream.sink(), checkpoint):
        pass
