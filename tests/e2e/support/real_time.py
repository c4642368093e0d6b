"""Spark's real-time mode, in Python on each Spark that has it."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import pyspark
import pytest
from pyspark.sql import SparkSession

from spark_kinesis import with_kinesis

if TYPE_CHECKING:
    from pyspark.sql.streaming.readwriter import DataStreamWriter

LONG = "10 minutes"  # a test does not wait for the end of such a batch
PREFIX = "spark.sql.streaming.realTimeMode."

HAS_REAL_TIME = pyspark.__version__ >= "4.1"

needs_real_time = pytest.mark.skipif(not HAS_REAL_TIME, reason="this Spark has no real-time mode")


def real_time_settings() -> dict[str, str]:
    """What `with_kinesis` sets for the mode."""
    builder = with_kinesis(SparkSession.Builder(), real_time=True)
    return {name: value for name, value in builder._options.items() if name.startswith(PREFIX)}


def real_time(writer: DataStreamWriter, spark: SparkSession, duration: str) -> DataStreamWriter:
    """The trigger, which Python has since Spark 4.2."""
    triggers: Any = spark._jvm.org.apache.spark.sql.streaming.Trigger  # type: ignore[union-attr]
    java_writer: Any = writer.outputMode("update")._jwrite
    writer._jwrite = java_writer.trigger(triggers.RealTime(duration))
    return writer
