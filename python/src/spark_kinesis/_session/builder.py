"""Add the connector's jar to a Spark session that is about to start."""

from __future__ import annotations

import os
import shlex
from argparse import ArgumentError, ArgumentParser
from pathlib import PurePath
from typing import TYPE_CHECKING, Any

from spark_kinesis._errors import SparkKinesisError

from .jars import default_settings, jar_path
from .missing import require_connector_in

if TYPE_CHECKING:
    from pyspark.sql import SparkSession

JARS, PACKAGES = "spark.jars", "spark.jars.packages"
_OPTIONS = {JARS: "--jars", PACKAGES: "--packages"}
_SUBMIT_ARGUMENTS = "PYSPARK_SUBMIT_ARGS"
_REAL_TIME = "spark.sql.streaming.realTimeMode"
_REAL_TIME_SETTINGS = {
    # Spark has a list of the sinks and operators that it allows, with no other connector on it.
    f"{_REAL_TIME}.allowlistCheck": "false",
    # Spark 4.3 turns this on for every stateless query, and refuses it for sinks that it does not
    # know. Older versions ignore the setting.
    f"{_REAL_TIME}.asyncProgressTrackingByDefault.enabled": "false",
}


def with_kinesis(builder: SparkSession.Builder, *, real_time: bool = False) -> SparkSession.Builder:
    """Add the connector's jar to a session that is about to start.

    The session has every jar that it would have without this call, and the connector's: the jars of
    the builder, of ``spark-defaults.conf``, of ``PYSPARK_SUBMIT_ARGS``, of ``spark-submit --jars``
    and ``--packages``. Call it after you set ``spark.jars`` or ``spark.jars.packages``.

    The jar for the Scala version of the installed Spark is chosen, see ``jar_path``. If the
    packages of the session name ``spark-kinesis``, that is the connector, and no jar is added.

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
        SparkKinesisError: if an option in ``PYSPARK_SUBMIT_ARGS`` has no value.
    """
    if real_time:
        for name, value in _REAL_TIME_SETTINGS.items():
            builder = builder.config(name, value)
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
    return builder.config(JARS, _added(jars, jar_path())) if jars else builder


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
    # Spark resolves those of the arguments, and then ignores those of the builder.
    packages = submitted(PACKAGES) or {**default, **options}.get(PACKAGES) or ""
    if ":spark-kinesis_" in packages:
        return builder
    arguments = submitted(JARS)
    if arguments or (packages and not of_builder):
        _submit_jars(_added(arguments or default.get(JARS, ""), jar))
        if not of_builder:
            return builder
    return builder.config(JARS, _added(of_builder or default.get(JARS, ""), jar))


def _options_of(builder: SparkSession.Builder) -> dict[str, str]:
    """The options set on a builder so far. It has no public way to ask."""
    options: dict[str, object] = getattr(builder, "_options", {})
    return {name: str(value) for name, value in options.items()}


def submitted(setting: str) -> str | None:
    """The jars or packages in ``PYSPARK_SUBMIT_ARGS``, by their own option or by ``--conf``."""
    parser = ArgumentParser(add_help=False, allow_abbrev=False, exit_on_error=False)
    parser.add_argument(_OPTIONS[setting], dest="own")
    parser.add_argument("--conf", "-c", action="append", default=[])
    try:
        given, _ = parser.parse_known_args(_submit_arguments())
    except ArgumentError as error:
        raise SparkKinesisError(f"{_SUBMIT_ARGUMENTS}: {error}") from error
    by_conf = dict(text.partition("=")[::2] for text in given.conf)
    own: str | None = given.own
    return own or by_conf.get(setting)


def _submit_jars(jars: str) -> None:
    """Set ``--jars`` in ``PYSPARK_SUBMIT_ARGS``, before the program. The last one counts.

    Programs that this process starts inherit the environment, and so the jars.
    """
    *arguments, program = _submit_arguments()
    if arguments[-2:] != [_OPTIONS[JARS], jars]:
        arguments += [_OPTIONS[JARS], jars]
    os.environ[_SUBMIT_ARGUMENTS] = shlex.join([*arguments, program])


def _submit_arguments() -> list[str]:
    return shlex.split(os.environ.get(_SUBMIT_ARGUMENTS) or "pyspark-shell")


def _added(jars: str, jar: str) -> str:
    """A comma-separated list with one more jar.

    Spark gives jars to executors by file name, one jar per name. A jar of that name stays.
    """
    listed = [entry.strip() for entry in jars.split(",") if entry.strip()]
    names = [PurePath(entry).name for entry in listed]
    return ",".join(listed if PurePath(jar).name in names else [*listed, jar])
