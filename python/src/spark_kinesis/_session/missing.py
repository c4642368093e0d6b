"""Sessions without the connector: how to notice, and what to do in this environment."""

from __future__ import annotations

import os
import re
import sys
from collections.abc import Iterator
from contextlib import contextmanager
from typing import TYPE_CHECKING, Any

from spark_kinesis._errors import KinesisJarMissingError

if TYPE_CHECKING:
    from pyspark.sql import SparkSession

FORMAT = "spark-kinesis"

_NO_KINESIS = re.compile(rf"DATA_SOURCE_NOT_FOUND.*data source: {FORMAT}\.?(\s|$)", re.DOTALL)
_SHELL_JAR = "\"$(python -c 'import spark_kinesis; print(spark_kinesis.jar_path())')\""

_DATABRICKS = (
    "On Databricks, install the jar at spark_kinesis.jar_path() as a library of the cluster, and "
    "restart the cluster. with_kinesis cannot add it to a running cluster."
)
_CONNECT = (
    "A Spark Connect server needs the jar at spark_kinesis.jar_path(): start the server with it in "
    "--jars, or call spark.addArtifacts(spark_kinesis.jar_path()) before you use the connector. If "
    "the server is local (.remote('local[...]')), start the session in a new Python process with "
    "spark_kinesis.with_kinesis(builder)."
)
_SUBMIT = (
    "spark-submit has started Spark's JVM before your program, so with_kinesis is too late. Pass "
    f"the jar to it: spark-submit --jars {_SHELL_JAR}. In an EMR or Livy notebook, set spark.jars "
    "in the first cell, with %%configure -f. On AWS Glue, use --extra-jars. The jar is at "
    "spark_kinesis.jar_path()."
)
_NOTEBOOK = (
    "Restart the kernel, and create the first session with "
    "spark_kinesis.with_kinesis(SparkSession.builder).getOrCreate(). If the platform creates the "
    "session for you, add the jar at spark_kinesis.jar_path() to its setting spark.jars."
)
_PYTHON = (
    "Start a new Python process, and create its first session with "
    "spark_kinesis.with_kinesis(SparkSession.builder).getOrCreate(). To stop the session is not "
    "enough: its JVM keeps running. The jar is at spark_kinesis.jar_path()."
)


@contextmanager
def explain_missing_jar(session: object = None) -> Iterator[None]:
    """Turn Spark's error "no such data source" into what to do about it.

    Args:
        session: the Spark session, if there is one, for the advice.

    Raises:
        KinesisJarMissingError: in place of ``DATA_SOURCE_NOT_FOUND`` for the connector's format.
    """
    try:
        yield
    # The class of the error differs between Spark's versions and interfaces; its text does not.
    except Exception as error:
        if not _NO_KINESIS.search(str(error)):
            raise
        is_connect = "connect" in type(session).__module__
        advice = _CONNECT if is_connect else advice_for_environment()
        raise KinesisJarMissingError(
            f"The running Spark session has no Kinesis connector. {advice}"
        ) from error


def require_connector(spark: SparkSession) -> None:
    """Check that a session has the connector. Makes no call to Kinesis.

    Raises:
        KinesisJarMissingError: if it has not.
    """
    try:
        with explain_missing_jar(spark):
            _ = spark.read.format(FORMAT).load().schema
    except KinesisJarMissingError:
        raise
    # The connector is there, and refuses a read without options.
    except Exception:  # noqa: BLE001, S110
        pass


def require_connector_in(jvm: Any) -> None:
    """Check that a running JVM has the connector. It needs no session.

    Raises:
        KinesisJarMissingError: if it has not.
    """
    with explain_missing_jar():
        conf = jvm.org.apache.spark.sql.internal.SQLConf.get()
        jvm.org.apache.spark.sql.execution.datasources.DataSource.lookupDataSource(FORMAT, conf)


def advice_for_environment() -> str:
    """What to do in the environment in which this process runs."""
    if "DATABRICKS_RUNTIME_VERSION" in os.environ:
        return _DATABRICKS
    if "PYSPARK_GATEWAY_PORT" in os.environ:
        return _SUBMIT
    return _NOTEBOOK if "ipykernel" in sys.modules else _PYTHON
