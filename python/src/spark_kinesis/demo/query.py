"""The query: it reads the log and writes two streams."""

from __future__ import annotations

import threading
import time
from pathlib import Path
from typing import TYPE_CHECKING

from pyspark.sql import functions as F  # noqa: N812 the name every Spark user knows

from spark_kinesis import KinesisSink, KinesisSource, SparkKinesisError, TrimHorizon

from .access_log import LINE
from .snapshot import MicroBatch

if TYPE_CHECKING:
    from pyspark.sql import Column, DataFrame, SparkSession

    from spark_kinesis.local import LocalKinesis

LOG, PARSED, COUNTS = "access-log", "parsed", "status-counts"
TRIGGER = "500 milliseconds"
STOP_SECONDS = 20.0


class StoppingError(SparkKinesisError):
    """A micro-batch started while the query was stopping. It wrote nothing."""


class Query:
    """A running query from the log to the two streams. It continues from its checkpoint."""

    def __init__(self, spark: SparkSession, kinesis: LocalKinesis, checkpoint: Path) -> None:
        """Start the query."""
        self._stopping = threading.Event()
        self._parsed = KinesisSink(stream_name=PARSED, **kinesis.access)
        self._counts = KinesisSink(stream_name=COUNTS, **kinesis.access)
        source = KinesisSource(stream_name=LOG, starting_position=TrimHorizon(), **kinesis.access)
        writer = source.read_stream(spark).writeStream.foreachBatch(self._write)
        writer = writer.option("checkpointLocation", str(checkpoint))
        self._running = writer.trigger(processingTime=TRIGGER).start()

    def stop(self) -> None:
        """Stop between two micro-batches, so that no micro-batch that wrote is repeated.

        The running micro-batch may finish. If another one starts meanwhile, it fails before it
        writes, which ends the query too; the next run repeats it.
        """
        self._stopping.set()
        deadline = time.monotonic() + STOP_SECONDS
        while self._is_busy() and time.monotonic() < deadline:
            time.sleep(0.01)
        self._running.stop()

    def check(self) -> None:
        """Raise the error of the query, if it failed."""
        error = self._running.exception()
        if error is not None:
            raise error

    def latest_batch(self) -> MicroBatch | None:
        """The latest micro-batch, if it had rows."""
        progress = self._running.lastProgress
        if progress is None or progress["numInputRows"] == 0:
            return None
        return MicroBatch(
            id=progress["batchId"],
            rows=progress["numInputRows"],
            milliseconds=progress["durationMs"]["triggerExecution"],
        )

    def _is_busy(self) -> bool:
        return self._running.isActive and bool(self._running.status["isTriggerActive"])

    def _write(self, lines: DataFrame, batch: int) -> None:
        if self._stopping.is_set():
            raise StoppingError(f"micro-batch {batch} is left to the next run")
        write_batch(self._parsed, self._counts, lines, batch)


def write_batch(parsed: KinesisSink, counts: KinesisSink, lines: DataFrame, batch: int) -> None:
    """Write each line to one stream, and the number of lines per status to the other.

    Each record contains its batch, and each line its row, so that a reader recognizes the records
    of a repeated batch. Both writes see the same lines, because a batch is a fixed set of records.
    """
    requests = parse(lines).withColumn("batch", F.lit(batch))
    per_status = requests.groupBy("batch", "status").agg(F.count("*").alias("lines"))
    parsed.write(requests.select(F.col("client").alias("partitionKey"), as_json()))
    counts.write(per_status.select(F.col("status").cast("string").alias("partitionKey"), as_json()))


def parse(lines: DataFrame) -> DataFrame:
    """The fields of the lines. A line of another form fails the batch."""

    def field(group: int) -> str:
        return f"regexp_extract(string(data), r'{LINE}', {group})"

    return lines.selectExpr(
        "monotonically_increasing_id() AS row",
        "shardId AS shard",
        f"{field(1)} AS client",
        f"{field(3)} AS page",
        f"bigint({field(4)}) AS number",
        f"int({field(5)}) AS status",
    )


def as_json() -> Column:
    """All columns as the data of a record."""
    return F.to_json(F.struct("*")).alias("data")
