"""The connector's jar into a Spark session."""

from __future__ import annotations

import os
import re
from collections.abc import Iterator
from contextlib import contextmanager
from typing import TYPE_CHECKING, Any

from ._errors import KinesisJarMissingError
from ._jar import jar_path
from ._spark import default_settings
from ._submit import JARS, PACKAGES, added, submit_jars, submitted

if TYPE_CHECKING:
    from pyspark.sql import SparkSession

_NO_KINESIS = re.compile(r"DATA_SOURCE_NOT_FOUND.*data source: kinesis\.?(\s|$)", re.DOTALL)


def with_kinesis(builder: SparkSession.Builder) -> SparkSession.Builder:
    """Add the connector's jar to a session that is about to start.

    The session has every jar it would have had without us, and this one: those of the builder,
    of ``spark-defaults.conf``, of ``PYSPARK_SUBMIT_ARGS``, of ``spark-submit --jars`` and
    ``--packages``. Call it after setting ``spark.jars`` or ``spark.jars.packages`` on the builder.

    Works for classic sessions and for ``.remote("local[...]")``. A server far away (``sc://host``)
    must bring the jar itself; there the builder is returned unchanged. A JVM that runs already
    takes no further jar into its driver: ``spark-submit`` needs :func:`jar_path` in ``--jars``.

    Args:
        builder: ``SparkSession.builder`` with whatever else it needs.

    Returns:
        The same builder.

    Raises:
        JarNotFoundError: when this installation has no jar.
    """
    options = _options_of(builder)
    remote = options.get("spark.remote") or os.environ.get("SPARK_REMOTE", "")
    if remote.startswith("sc://"):
        return builder
    jar = jar_path()
    from pyspark import SparkContext  # noqa: PLC0415 the builder is pyspark's, so it is there

    if "PYSPARK_GATEWAY_PORT" in os.environ:
        SparkContext._ensure_initialized()  # noqa: SLF001 spark-submit's JVM: this only connects
    jvm: Any = SparkContext._jvm  # noqa: SLF001 there is no public way to ask
    if jvm is not None:
        jars = options.get(JARS) or jvm.java.lang.System.getProperty(JARS) or ""
        return builder.config(JARS, added(jars, jar))
    return _before_the_jvm(builder, options, jar)


def _before_the_jvm(
    builder: SparkSession.Builder, options: dict[str, str], jar: str
) -> SparkSession.Builder:
    """Where the jar goes while there is no JVM yet: to the builder, or among the arguments.

    A builder's ``spark.jars`` replaces, in the session, what spark-submit was told otherwise and
    what it made of packages. Where there is such and the builder is silent about jars, it must
    stay so.
    """
    of_builder, default = options.get(JARS), default_settings()
    arguments = submitted(JARS)
    has_packages = bool({**default, **options}.get(PACKAGES) or submitted(PACKAGES))
    if arguments or (has_packages and not of_builder):
        submit_jars(added(arguments or default.get(JARS, ""), jar))
        if not of_builder:
            return builder
    return builder.config(JARS, added(of_builder or default.get(JARS, ""), jar))


@contextmanager
def explain_missing_jar() -> Iterator[None]:
    """Turn Spark's "no such data source" into what to do about it.

    Raises:
        KinesisJarMissingError: in place of ``DATA_SOURCE_NOT_FOUND`` for ``kinesis``.
    """
    try:
        yield
    # Its class differs between classic and Connect and between versions; its text does not.
    except Exception as error:
        if not _NO_KINESIS.search(str(error)):
            raise
        raise KinesisJarMissingError(
            "this Spark session was started without the Kinesis connector. Start it with "
            "spark_kinesis.with_kinesis(SparkSession.builder).getOrCreate() in a fresh Python "
            "process (a running JVM takes no jar); under spark-submit add spark_kinesis.jar_path() "
            "to --jars; on a remote Spark Connect server call "
            "spark.addArtifacts(spark_kinesis.jar_path()) first"
        ) from error


def require_connector(spark: SparkSession) -> None:
    """Find out whether a session has the connector, without any call to Kinesis.

    Raises:
        KinesisJarMissingError: if it has not.
    """
    try:
        with explain_missing_jar():  # without options: the connector, if there, refuses
            _ = spark.read.format("kinesis").load().schema
    except KinesisJarMissingError:
        raise
    except Exception:  # noqa: BLE001, S110 of Spark, as the connector has refused
        pass


def _options_of(builder: SparkSession.Builder) -> dict[str, str]:
    """What was set on a builder so far; it has no public way to ask."""
    options: dict[str, object] = getattr(builder, "_options", {})
    return {name: str(value) for name, value in options.items()}
