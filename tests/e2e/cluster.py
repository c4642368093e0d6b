"""A Spark cluster of several processes on this machine, out of pip's pyspark."""

from __future__ import annotations

import os
import shutil
import sys
from contextlib import contextmanager
from pathlib import Path
from typing import TYPE_CHECKING

import pyspark
from pyspark.sql import SparkSession

from spark_kinesis import with_kinesis

if TYPE_CHECKING:
    from collections.abc import Iterator

HOME = Path(pyspark.__file__).parent


@contextmanager
def cluster_session(*, executors: int, logging: Path | None = None) -> Iterator[SparkSession]:
    """A session whose executors are processes of their own, one core each.

    They keep copies of the jars in a folder each, which go with the session.

    Args:
        executors: how many.
        logging: a log4j2 configuration for the executors.
    """
    os.environ["SPARK_HOME"] = str(HOME)
    os.environ["SPARK_SCALA_VERSION"] = "2.12" if pyspark.__version__ < "4" else "2.13"
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
    spark = with_kinesis(builder).getOrCreate()
    folder = work_folder(spark.sparkContext.applicationId)
    try:
        yield spark
    finally:
        spark.stop()
        shutil.rmtree(folder)


def work_folder(application: str) -> Path:
    """Where an application's executors work; a local cluster has no option for it."""
    return HOME / "work" / application


def executor_logs(application: str) -> str:
    """What an application's executors said."""
    logs = work_folder(application).glob("*/std*")
    return "\n".join(log.read_text(errors="replace") for log in logs)
