"""A Spark cluster of several processes on this machine, out of pip's pyspark."""

from __future__ import annotations

import os
import sys
from pathlib import Path

import pyspark
from pyspark.sql import SparkSession

from spark_kinesis import with_kinesis

HOME = Path(pyspark.__file__).parent


def cluster_session(*, executors: int, logging: Path | None = None) -> SparkSession:
    """A session whose executors are processes of their own, one core each.

    Args:
        executors: how many.
        logging: a log4j2 configuration for the executors.
    """
    os.environ["SPARK_HOME"] = str(HOME)
    os.environ["SPARK_SCALA_VERSION"] = "2.13"
    os.environ["PYSPARK_PYTHON"] = sys.executable
    builder = (
        SparkSession.Builder()
        .master(f"local-cluster[{executors},1,1024]")
        .config("spark.ui.enabled", "false")
        .config("spark.sql.shuffle.partitions", "2")
    )
    if logging is not None:
        option = f"-Dlog4j2.configurationFile={logging.as_uri()}"
        builder = builder.config("spark.executor.extraJavaOptions", option)
    return with_kinesis(builder).getOrCreate()


def executor_logs(application: str) -> str:
    """What an application's executors said."""
    logs = (HOME / "work" / application).glob("*/std*")
    return "\n".join(log.read_text(errors="replace") for log in logs)
