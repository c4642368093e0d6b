"""A watermark over shards that are not equally far: no row is late because its shard was behind."""

from __future__ import annotations

import time
from typing import TYPE_CHECKING, Any

import pytest
from pyspark.sql import functions as F  # noqa: N812, as usual with Spark

from spark_kinesis import columns
from tests.e2e.support.harness import Collector, await_end
from tests.e2e.support.streams import wait_for

if TYPE_CHECKING:
    from collections.abc import Callable
    from pathlib import Path

    from pyspark.sql import DataFrame, SparkSession

    from tests.e2e.support.streams import Stream

BUSY_SECONDS = 12


@pytest.fixture
def uneven(new_stream: Callable[..., Stream]) -> Stream:
    """A stream whose first shard received records for a while, and its second one only then."""
    stream = new_stream(shards=2)
    end = time.monotonic() + BUSY_SECONDS
    while time.monotonic() < end:
        stream.client.put_record(
            StreamName=stream.name, Data=b"1", PartitionKey="k", ExplicitHashKey="0"
        )
        time.sleep(0.1)
    stream.client.put_record(
        StreamName=stream.name, Data=b"1", PartitionKey="k", ExplicitHashKey=str(2**128 - 1)
    )
    return stream


def count(spark: SparkSession, stream: Stream, checkpoint: Path, **options: Any) -> tuple[int, int]:
    """Count the records of a backlog in windows, and without them."""
    windows: dict[str, int] = {}

    def keep(batch: DataFrame, _: int) -> None:
        windows.update({str(row["window"]): row["count"] for row in batch.collect()})

    source = stream.source(max_records_per_trigger=20, max_records_per_fetch=20, **options)
    query = (
        source.read_stream(spark)
        .withWatermark(columns.APPROXIMATE_ARRIVAL_TIMESTAMP, "4 seconds")
        .groupBy(F.window(columns.APPROXIMATE_ARRIVAL_TIMESTAMP, "1 second"))
        .count()
        .writeStream.outputMode("update")
        .foreachBatch(keep)
        .option("checkpointLocation", str(checkpoint))
        .trigger(availableNow=True)
        .start()
    )
    await_end(query)
    return sum(windows.values()), stream.source().read(spark).count()


@pytest.mark.parametrize("kinesis", ["simulator"], indirect=True)
def test_no_row_of_a_backlog_is_late_with_a_watermark(
    spark: SparkSession, uneven: Stream, checkpoint: Path
) -> None:
    in_windows, written = count(spark, uneven, checkpoint)
    assert in_windows == written
    in_windows, written = count(spark, uneven, checkpoint / "free", max_shard_skew="none")
    assert in_windows < written, "the backlog is not uneven enough to show a late row"


@pytest.mark.parametrize("kinesis", ["simulator"], indirect=True)
@pytest.mark.parametrize("has_watermark", [True, False])
def test_shards_advance_together_only_with_a_watermark(
    spark: SparkSession, stream: Stream, checkpoint: Path, *, has_watermark: bool
) -> None:
    stream.put(40)
    collector = Collector()

    def delayed(records: DataFrame) -> DataFrame:
        column = columns.APPROXIMATE_ARRIVAL_TIMESTAMP
        return records.withWatermark(column, "10 seconds") if has_watermark else records

    def metrics() -> dict[str, str]:
        progress = query.lastProgress
        return dict(progress["sources"][0]["metrics"]) if progress else {}

    frame = delayed(stream.source().read_stream(spark))
    writer = frame.writeStream.foreachBatch(collector)
    query = writer.option("checkpointLocation", str(checkpoint)).start()
    try:
        collector.wait(query, stream.written)
        wait_for("progress", lambda: "openShards" in metrics())
        assert ("heldBackShards" in metrics()) == has_watermark
    finally:
        query.stop()
