"""A Spark session that logs into a file."""

from __future__ import annotations

import os
import sys
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

from pyspark.sql import SparkSession

from spark_kinesis import with_kinesis

# In a run of a minute, the second compiler costs more than it gains. Spark matches tracebacks of
# Python with a recursive regular expression, which needs a deep stack.
JAVA_OPTIONS = "-XX:TieredStopAtLevel=1 -Xss16m"


def start_session(log: Path) -> SparkSession:
    """Start a session with two cores. Spark writes its log into the file."""
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
    with _stderr_into(log):  # Spark's process inherits it and keeps it
        return with_kinesis(builder).getOrCreate()


@contextmanager
def _stderr_into(file: Path) -> Iterator[None]:
    saved = os.dup(2)
    with file.open("ab") as log:
        os.dup2(log.fileno(), 2)
    try:
        yield
    finally:
        os.dup2(saved, 2)
        os.close(saved)
