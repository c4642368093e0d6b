"""What a row of the source has."""

from __future__ import annotations

from typing import TYPE_CHECKING

from harness import collected, running
from streams import Stream, wait_for
from verdict import Collected

if TYPE_CHECKING:
    from pathlib import Path

    from pyspark.sql import DataFrame, SparkSession


def test_columns(spark: SparkSession, stream: Stream, checkpoint: Path) -> None:
    stream.put(3)
    frame = stream.source().load(spark)
    assert frame.columns == [
        "partitionKey",
        "data",
        "stream",
        "shardId",
        "sequenceNumber",
        "subSequenceNumber",
        "approximateArrivalTimestamp",
    ]
    seen: list[Collected] = []
    wide: list[tuple[str, str]] = []

    def keep(batch_frame: DataFrame, batch: int) -> None:
        seen.extend(collected(row, batch) for row in batch_frame.collect())
        chosen = batch_frame.select("stream", "partitionKey", "approximateArrivalTimestamp")
        wide.extend((row[0], row[1]) for row in chosen.collect() if row[2] is not None)

    with running(spark, stream.source(), checkpoint, keep):
        wait_for("three rows", lambda: len(wide) >= 3)
    assert {name for name, _ in wide} == {stream.name}
    assert {key for _, key in wide} == {row.key for row in seen}
