"""A sink that also knows where each row was read, in which attempt, and can disturb tasks."""

from __future__ import annotations

import time
from collections import Counter
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING

import pyarrow as pa
from pyspark import TaskContext
from pyspark.sql.types import IntegerType, StringType, StructField, StructType

from tests.e2e.support.harness import Collector, drain
from tests.e2e.support.streams import wait_for

if TYPE_CHECKING:
    from collections.abc import Callable, Iterable, Iterator

    from pyspark.sql import DataFrame, Row, SparkSession
    from pyspark.sql.streaming.query import StreamingQuery

    from tests.e2e.support.streams import Stream

COLUMNS = [StructField("executor", StringType()), StructField("attempt", IntegerType())]
REREAD = "ranges read again from Kinesis"


@dataclass(frozen=True, order=True)
class Place:
    """The executor and the task attempt that read the records of a shard in a batch."""

    shard: str
    executor: str
    attempt: int


class PlacedCollector(Collector):
    """A collector that also asks the task of each row where it runs."""

    def __init__(self, meddle: Callable[[str, int, int], None] | None = None) -> None:
        """Nothing collected yet.

        Args:
            meddle: called by each task once it has read its first rows: with its executor's id,
                its number and its attempt, counted from 0.
        """
        super().__init__()
        self.places: list[set[Place]] = []  # one set per batch
        self._meddle = meddle
        self._reread: dict[int, int] = {}

    def fetch(self, frame: DataFrame) -> list[Row]:
        """The rows of a batch, each with its place."""
        schema = StructType(frame.schema.fields + COLUMNS)
        rows = frame.mapInArrow(placed(self._meddle), schema).collect()
        self.places.append({Place(r["shardId"], r["executor"], r["attempt"]) for r in rows})
        self._reread |= reread_metrics(frame.sparkSession)
        return rows

    @property
    def reread(self) -> int:
        """The number of ranges that tasks read from Kinesis again, in all batches."""
        return sum(list(self._reread.values()))


def placed(
    meddle: Callable[[str, int, int], None] | None,
) -> Callable[[Iterable[pa.RecordBatch]], Iterator[pa.RecordBatch]]:
    """The function that runs in each task. Spark copies it to the executors by value."""

    def run(batches: Iterable[pa.RecordBatch]) -> Iterator[pa.RecordBatch]:
        context = TaskContext.get()
        assert context is not None
        executor = Path.cwd().name  # an executor works in a folder named by its id
        left = iter(batches)
        first = next(left, None)
        if meddle is not None:
            meddle(executor, context.partitionId(), context.attemptNumber())
        for batch in [] if first is None else [first, *left]:
            size = batch.num_rows
            added = [
                pa.array([executor] * size, pa.string()),
                pa.array([context.attemptNumber()] * size, pa.int32()),
            ]
            names = [*batch.schema.names, "executor", "attempt"]
            yield pa.RecordBatch.from_arrays([*batch.columns, *added], names=names)

    return run


def holding(folder: Path) -> Callable[[str, int, int], None]:
    """Stops tasks while there is a file `hold`. A file `held-…` names each stopped task."""
    hold = folder / "hold"

    def meddle(executor: str, number: int, attempt: int) -> None:
        deadline = time.monotonic() + 60
        while hold.exists():
            (folder / f"held-{executor}-{number}-{attempt}").touch()
            if time.monotonic() > deadline:
                raise TimeoutError("held for ever")
            time.sleep(0.05)

    return meddle


def reread_metrics(spark: SparkSession) -> dict[int, int]:
    """The number of ranges read from Kinesis again, by the id of the metric: one per batch.

    Spark's UI does not show it here: what runs in `foreachBatch` it takes for another query's.
    """
    jvm = spark._jvm
    assert jvm is not None
    context = jvm.org.apache.spark.util.AccumulatorContext
    found = {}
    executions = spark._jsparkSession.sharedState().statusStore().executionsList().iterator()
    while executions.hasNext():
        metrics = executions.next().metrics().iterator()
        while metrics.hasNext():
            metric = metrics.next()
            value = context.get(metric.accumulatorId()) if metric.name() == REREAD else None
            if value is not None and value.isDefined():  # else Spark has dropped it
                found[metric.accumulatorId()] = max(0, value.get().value())
    return found


def wait_even(
    spark: SparkSession, stream: Stream, query: StreamingQuery, collector: PlacedCollector
) -> Counter[str]:
    """Write until all ranges are read on the executor that holds them. Returns shards per executor.

    Raises:
        TimeoutError: when they are not shared evenly.
    """
    shares: Counter[str] = Counter()

    def is_even() -> bool:
        nonlocal shares
        reread, batches = collector.reread, len(collector.places)
        stream.put(40)
        drain(stream, query, collector)
        newest = collector.places[batches:]
        places = {(place.shard, place.executor) for batch in newest for place in batch}
        shares = Counter(executor for _, executor in places)
        is_fair = set(shares) == registered(spark) and len(places) == stream.shards
        is_fair = is_fair and max(shares.values()) - min(shares.values()) <= 1
        return is_fair and collector.reread == reread

    wait_for("each executor reads its share ahead", is_even)
    return shares


def registered(spark: SparkSession) -> set[str]:
    """The ids of the executors that the driver knows."""
    ids = spark.sparkContext._jsc.sc().getExecutorIds().mkString(",")
    return set(filter(None, ids.split(",")))
