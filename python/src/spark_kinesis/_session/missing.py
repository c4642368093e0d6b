"""Sessions without the connector: how to notice, and what to do."""

from __future__ import annotations

import re
from collections.abc import Iterator
from contextlib import contextmanager
from typing import TYPE_CHECKING, Any

from spark_kinesis._errors import KinesisJarMissingError

if TYPE_CHECKING:
    from pyspark.sql import SparkSession

FORMAT = "spark-kinesis"

_NO_KINESIS = re.compile(rf"DATA_SOURCE_NOT_FOUND.*data source: {FORMAT}\.?(\s|$)", re.DOTALL)
_ADVICE = (
    "The running Spark session has no Kinesis connector, and its JVM takes no further jar. Start a "
    "new Python process or kernel, and create its first session with "
    "spark_kinesis.with_kinesis(SparkSession.builder).getOrCreate(). If something else starts "
    "Spark, give it the jar at spark_kinesis.jar_path(): with spark-submit --jars, with --jars of "
    "a Spark Connect server or spark.addArtifacts(spark_kinesis.jar_path()), in a notebook of EMR "
    "or Livy with spark.jars in %%configure -f, on AWS Glue with --extra-jars, and on Databricks "
    "as a library of the cluster."
)


@contextmanager
def explain_missing_jar() -> Iterator[None]:
    """Turn Spark's error "no such data source" into what to do about it.

    Raises:
        KinesisJarMissingError: in place of ``DATA_SOURCE_NOT_FOUND`` for the connector's format.
    """
    try:
        yield
    # The class of the error differs between Spark's versions and interfaces; its text does not.
    except Exception as error:
        if not _NO_KINESIS.search(str(error)):
            raise
        raise KinesisJarMissingError(_ADVICE) from error


def require_connector(spark: SparkSession) -> None:
    """Check that a session has the connector. Makes no call to Kinesis.

    Raises:
        KinesisJarMissingError: if it has not.
    """
    try:
        with explain_missing_jar():
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
