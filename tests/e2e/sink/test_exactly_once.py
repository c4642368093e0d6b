"""Exactly-once writes without a cluster: batch writes with a name, and what is refused."""

from __future__ import annotations

from collections import Counter
from typing import TYPE_CHECKING, Any

import pyspark
import pytest
from pyspark.sql import DataFrame

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


@pytest.mark.skipif(pyspark.__version__ < "4.1", reason="this Spark has no real-time mode")
@pytest.mark.parametrize("kinesis", ["simulator"], indirect=True)
def test_real_time_mode_is_refused(spark: SparkSession, stream: Stream, checkpoint: Path) -> None:
    settings = {
        "allowlistCheck": "false",  # Spark has a list of sinks
        "asyncProgressTrackingByDefault.enabled": "false",  # which Spark itself refuses
        "minBatchDuration": "1000",
    }
    sql: Any = spark._jvm.org.apache.spark.sql  # type: ignore[union-attr]
    memory = sql.execution.streaming.sources.LowLatencyMemoryStream
    rows = memory.apply(spark._jsparkSession, 1, sql.Encoders.STRING())
    frame = DataFrame(rows.toDF(), spark).selectExpr("value AS data", "'k' AS partitionKey")
    names = {f"spark.sql.streaming.realTimeMode.{name}": value for name, value in settings.items()}
    try:
        for name, value in names.items():
            spark.conf.set(name, value)
        writer = sink(stream).write_stream(frame, checkpoint_location=checkpoint)
        query = writer.outputMode("update").trigger(realTime="5 seconds").start()  # type: ignore[call-overload]
        with pytest.raises(Exception, match=r"KINESIS_EXACTLY_ONCE_UNSUPPORTED.*no real-time mode"):
            query.awaitTermination(60)
    finally:
        for name in names:
            spark.conf.unset(name)
    assert stream.read_all() == []
