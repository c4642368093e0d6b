"""Add the connector's jar to a Spark session that is about to start."""

from __future__ import annotations

import os
from typing import TYPE_CHECKING, Any

from .jars import jar_path
from .missing import require_connector_in
from .real_time import with_real_time
from .spark import default_settings
from .submit import JARS, PACKAGES, added, submit_jars, submitted

if TYPE_CHECKING:
    from pyspark.sql import SparkSession


def with_kinesis(builder: SparkSession.Builder, *, real_time: bool = False) -> SparkSession.Builder:
    """Add the connector's jar to a session that is about to start.

    The session has every jar that it would have without this call, and the connector's: the jars of
    the builder, of ``spark-defaults.conf``, of ``PYSPARK_SUBMIT_ARGS``, of ``spark-submit --jars``
    and ``--packages``. Call it after you set ``spark.jars`` or ``spark.jars.packages``.

    The jar for the Scala version of the installed Spark is chosen, see ``jar_path``.

    If Spark's JVM runs already, as under ``spark-submit`` and in the notebooks of most platforms,
    it must have the connector: a running JVM takes no further jar into its driver. For a remote
    Spark Connect server (``sc://host``) this function adds no jar: the server needs it.

    Args:
        builder: ``SparkSession.builder``, with the other settings of the session.
        real_time: also set what queries with a real-time trigger need, so that they can write to
            Kinesis. Requires Spark 4.1 or later. The settings are
            ``spark.sql.streaming.realTimeMode.allowlistCheck=false`` and
            ``spark.sql.streaming.realTimeMode.asyncProgressTrackingByDefault.enabled=false``. They
            have no effect on other queries.

    Returns:
        The same builder.

    Raises:
        KinesisJarMissingError: if a JVM runs without the connector. The message says what to do.
        JarNotFoundError: if this installation has no jar for the installed Spark.
        ValueError: if ``real_time`` is true, and Spark is older than 4.1.
    """
    if real_time:
        builder = with_real_time(builder, _spark_version())
    options = _options_of(builder)
    remote = options.get("spark.remote") or os.environ.get("SPARK_REMOTE", "")
    if remote.startswith("sc://"):
        return builder
    jvm = _running_jvm()
    if jvm is None:
        return _before_the_jvm(builder, options, jar_path())
    require_connector_in(jvm)
    jars = options.get(JARS)
    # Jars of the builder replace those of the JVM in the session, the connector's among them.
    return builder.config(JARS, added(jars, jar_path())) if jars else builder


def _spark_version() -> str:
    import pyspark  # noqa: PLC0415 the builder is pyspark's, so it is there

    return pyspark.__version__


def _running_jvm() -> Any:
    """The handle of the JVM that runs already, or ``None``."""
    from pyspark import SparkContext  # noqa: PLC0415 the builder is pyspark's, so it is there

    if "PYSPARK_GATEWAY_PORT" in os.environ:
        SparkContext._ensure_initialized()  # noqa: SLF001 connects to the JVM of spark-submit
    return SparkContext._jvm  # noqa: SLF001 there is no public way to ask


def _before_the_jvm(
    builder: SparkSession.Builder, options: dict[str, str], jar: str
) -> SparkSession.Builder:
    """Put the jar into the builder, or into the arguments of the JVM that will start.

    A builder's ``spark.jars`` replaces, in the session, the jars of the arguments and the jars that
    Spark resolves from packages. If there are such jars and the builder sets none, the builder must
    stay without ``spark.jars``.
    """
    of_builder, default = options.get(JARS), default_settings()
    arguments = submitted(JARS)
    has_packages = bool({**default, **options}.get(PACKAGES) or submitted(PACKAGES))
    if arguments or (has_packages and not of_builder):
        submit_jars(added(arguments or default.get(JARS, ""), jar))
        if not of_builder:
            return builder
    return builder.config(JARS, added(of_builder or default.get(JARS, ""), jar))


def _options_of(builder: SparkSession.Builder) -> dict[str, str]:
    """The options set on a builder so far. It has no public way to ask."""
    options: dict[str, object] = getattr(builder, "_options", {})
    return {name: str(value) for name, value in options.items()}
