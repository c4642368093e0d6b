"""Exactly-once writes without a cluster: batch writes with a name."""

from __future__ import annotations

from collections import Counter
from typing import TYPE_CHECKING, Any

from tests.e2e.support.kpl import read_by_agg

if TYPE_CHECKING:
    from pathlib import Path

    from pyspark.sql import SparkSession

    from spark_kinesis import KinesisSink
    from tests.e2e.support.streams import Stream


def sink(stream: Stream, **options: Any) -> KinesisSink:
    """An exactly-once sink of a stream."""
    return stream.sink(aggregation="kpl", delivery_guarantee="exactly_once", **options)


def test_a_batch_write_that_is_repeated_writes_its_rows_once(
    spark: SparkSession, stream: Stream, tmp_path: Path
) -> None:
    frame = spark.range(200).selectExpr("concat('k', id % 7) AS partitionKey", "string(id) AS data")
    once = Counter((f"k{n % 7}", str(n).encode()) for n in range(200))
    for _ in range(2):
        sink(stream, write_id="monday").write(frame, checkpoint_location=tmp_path)
        assert Counter(read_by_agg(stream)) == once
    sink(stream, write_id="tuesday").write(frame, checkpoint_location=tmp_path)
    assert Counter(read_by_agg(stream)) == once + once
