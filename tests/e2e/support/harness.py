"""A query under test, and a sink that collects its rows."""

from __future__ import annotations

import json
import threading
import time
from contextlib import contextmanager
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

from tests.e2e.support.streams import FENCE, PATIENCE_SECONDS, Stream, Written, wait_for
from tests.e2e.support.verdict import Collected

if TYPE_CHECKING:
    from collections.abc import Iterable, Iterator
    from concurrent.futures import Future
    from pathlib import Path

    from pyspark.sql import DataFrame, Row, SparkSession
    from pyspark.sql.streaming.query import StreamingQuery

    from spark_kinesis import KinesisSource


class Collector:
    """A `foreachBatch` sink that is idempotent per batch.

    A batch that runs again must bring exactly the rows it brought before, each shard's in the
    order they came before.
    """

    def __init__(self) -> None:
        """Nothing collected yet."""
        self._changed = threading.Condition()
        self._batches: dict[int, list[Collected]] = {}
        self.reruns = 0

    def __call__(self, frame: DataFrame, batch: int) -> None:
        """Collect a batch."""
        delivered = [collected(row, batch) for row in self.fetch(frame)]
        rows = sorted(delivered, key=lambda r: r.shard)  # the order within a shard stays
        with self._changed:
            before = self._batches.get(batch)
            if before is not None:
                self.reruns += 1
                if before != rows:
                    raise AssertionError(f"batch {batch} ran again with other rows")
            self._batches[batch] = rows
            self._changed.notify_all()

    def fetch(self, frame: DataFrame) -> list[Row]:
        """The rows of a batch."""
        return frame.collect()

    @property
    def rows(self) -> list[Collected]:
        """All rows so far: by batch, then by shard, then in the order of delivery."""
        with self._changed:
            return [row for batch in sorted(self._batches) for row in self._batches[batch]]

    def numbered(self) -> list[Collected]:
        """All rows so far, except fences."""
        return [row for row in self.rows if row.key != FENCE]

    def wait(self, query: StreamingQuery, expected: Iterable[Written]) -> None:
        """Wait until records have arrived.

        Raises:
            TimeoutError: in the end, with how many are missing.
            RuntimeError: when the query failed.
        """
        wanted = set(expected)
        deadline = time.monotonic() + PATIENCE_SECONDS
        with self._changed:
            while missing := wanted - self._seen():
                if not query.isActive:
                    raise RuntimeError(f"the query ended: {query.exception()}")
                if time.monotonic() > deadline:
                    raise TimeoutError(f"{len(missing)} of {len(wanted)} records did not arrive")
                self._changed.wait(0.2)

    def _seen(self) -> set[Written]:
        return {Written(r.key, r.n) for rows in self._batches.values() for r in rows}


def collected(row: Row, batch: int) -> Collected:
    """A row of the source. An empty record counts as number -1 of its key."""
    body = json.loads(bytes(row["data"])) if row["data"] else {"key": row["partitionKey"], "n": -1}
    shard = f"{row['stream']}/{row['shardId']}"
    return Collected(batch, shard, int(row["sequenceNumber"]), body["key"], body["n"])


@dataclass(frozen=True)
class Reading:
    """Streams to read, with Spark options instead of Python fields."""

    options: dict[str, str]

    @classmethod
    def of(cls, *streams: Stream, **options: str) -> Reading:
        """A source of one or several streams of one local Kinesis, by name."""
        names = ",".join(stream.name for stream in streams)
        return cls({**streams[0].source().options(), "streamName": names, **options})

    def read_stream(self, spark: SparkSession) -> DataFrame:
        """A streaming DataFrame."""
        return spark.readStream.format("kinesis").options(**self.options).load()

    def read(self, spark: SparkSession) -> DataFrame:
        """A batch DataFrame."""
        return spark.read.format("kinesis").options(**self.options).load()


@contextmanager
def running(
    spark: SparkSession, source: KinesisSource | Reading, checkpoint: Path, sink: Any
) -> Iterator[StreamingQuery]:
    """A query from a source into a `foreachBatch` function. It is stopped at the end."""
    writer = source.read_stream(spark).writeStream.foreachBatch(sink)
    query = writer.option("checkpointLocation", str(checkpoint)).start()
    try:
        yield query
    finally:
        query.stop()


def await_end(query: StreamingQuery) -> None:
    """Wait for a query that ends by itself."""
    try:
        assert query.awaitTermination(int(PATIENCE_SECONDS)), "the query did not end"
    finally:
        query.stop()


def wait_started(checkpoint: Path) -> None:
    """Wait until a new query has stored where it starts to read."""
    wait_for("the first offset is logged", (checkpoint / "offsets" / "0").is_file)


def drain(stream: Stream, query: StreamingQuery, collector: Collector) -> None:
    """Wait for all records written so far, and then for a fence behind them."""
    collector.wait(query, stream.written)
    collector.wait(query, stream.fence())


def assert_ongoing(work: Future[None]) -> None:
    """Check that work in another thread goes on. Raises its error if it failed."""
    if work.done():
        work.result()
        raise AssertionError("the work ended before the test could look at it")
