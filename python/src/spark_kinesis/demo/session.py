"""A quiet Spark session."""

from __future__ import annotations

import os
import sys
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

from pyspark.sql import SparkSession

from spark_kinesis import with_kinesis

# A run of a minute ends before the second compiler pays; and Spark tells a stop from a failure by a
# recursive regular expression over the whole Python traceback, which takes a deep stack.
JAVA_OPTIONS = "-XX:TieredStopAtLevel=1 -Xss16m"


def start_session(log: Path) -> SparkSession:
    """A session of two cores that says what it has to say into a file."""
    os.environ.setdefault("PYSPARK_PYTHON", sys.executable)
    os.environ.setdefault("SPARK_LOCAL_IP", "127.0.0.1")
    builder = (
        SparkSession.Builder()
        .master("local[2]")
        .appName("spark-kinesis demo")
        .config("spark.ui.enabled", "false")
        .config("spark.ui.showConsoleProgress", "false")
        .config("spark.sql.shuffle.partitions", "2")
        .config("spark.log.level", "WARN")
        .config("spark.driver.extraJavaOptions", JAVA_OPTIONS)
    )
    with _stderr_into(log):  # Spark's process keeps the one it started with
        return with_kinesis(builder).getOrCreate()


@contextmanager
def _stderr_into(file: Path) -> Iterator[None]:
    kept = os.dup(2)
    with file.open("ab") as log:
        os.dup2(log.fileno(), 2)
    try:
        yield
    finally:
        os.dup2(kept, 2)
        os.close(kept)
