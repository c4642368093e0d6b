"""A Spark cluster of several processes on this machine, from the pyspark package."""

from __future__ import annotations

import os
import shutil
import sys
from contextlib import contextmanager
from pathlib import Path
from typing import TYPE_CHECKING

import pyspark
import pytest
from pyspark.sql import SparkSession

from spark_kinesis import with_kinesis

if TYPE_CHECKING:
    from collections.abc import Iterator, Mapping

HOME = Path(pyspark.__file__).parent


def cluster_on_linux(reason: str) -> list[pytest.MarkDecorator]:
    """The marks of a module whose tests need a cluster and Linux.

    Args:
        reason: what the tests do that other systems do not have.
    """
    elsewhere = pytest.mark.skipif(sys.platform != "linux", reason=reason)
    return [pytest.mark.cluster, elsewhere]


@contextmanager
def cluster_session(
    *, executors: int, logging: Path | None = None, conf: Mapping[str, str] | None = None
) -> Iterator[SparkSession]:
    """A session whose executors are separate processes with one core each.

    They keep copies of the jars in a folder each, which go with the session.

    Args:
        executors: how many.
        logging: a log4j2 configuration for the executors.
        conf: more of Spark's settings.
    """
    settings = dict(conf or {})
    if logging is not None:
        option = f"-Dlog4j2.configurationFile={logging.as_uri()}"
        settings["spark.executor.extraJavaOptions"] = option
    spark = new_session(f"local-cluster[{executors},1,1024]", settings)
    folder = work_folder(spark.sparkContext.applicationId)
    try:
        yield spark
    finally:
        spark.stop()
        shutil.rmtree(folder)


def new_session(master: str, conf: Mapping[str, str]) -> SparkSession:
    """The session of a program."""
    os.environ["SPARK_HOME"] = str(HOME)
    os.environ["SPARK_SCALA_VERSION"] = "2.12" if pyspark.__version__ < "4" else "2.13"
    os.environ["PYSPARK_PYTHON"] = sys.executable
    builder = (
        SparkSession.Builder()
        .master(master)
        .config("spark.ui.enabled", "false")
        .config("spark.ui.showConsoleProgress", "false")
        .config("spark.sql.shuffle.partitions", "2")
    )
    for name, value in conf.items():
        builder = builder.config(name, value)
    return with_kinesis(builder).getOrCreate()


def work_folder(application: str) -> Path:
    """The folder in which the executors of an application work. No option can change it."""
    return HOME / "work" / application


def executor_logs(application: str, executor: str = "*") -> str:
    """The logs of the executors of an application, or of one executor."""
    logs = work_folder(application).glob(f"{executor}/std*")
    return "\n".join(log.read_text(errors="replace") for log in logs)
