"""Add the connector's jar to a Spark session that is about to start."""

from __future__ import annotations

import os
import re
import shlex
from itertools import pairwise
from pathlib import PurePath
from typing import TYPE_CHECKING, Any

from .jars import default_settings, jar_path
from .missing import require_connector_in

if TYPE_CHECKING:
    from pyspark.sql import SparkSession

JARS, PACKAGES = "spark.jars", "spark.jars.packages"
_OPTIONS = {JARS: "--jars", PACKAGES: "--packages"}
_SUBMIT_ARGUMENTS = "PYSPARK_SUBMIT_ARGS"
_REAL_TIME = "spark.sql.streaming.realTimeMode"
_FIRST_REAL_TIME = (4, 1)
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
        ValueError: if ``real_time`` is true, and Spark is older than 4.1.
    """
    if real_time:
        builder = _with_real_time(builder, _spark_version())
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


def _with_real_time(builder: SparkSession.Builder, spark: str) -> SparkSession.Builder:
    """Set what real-time mode needs.

    Args:
        builder: the builder of the session.
        spark: version of Spark, such as ``"4.3.0"``.

    Raises:
        ValueError: if this Spark has no real-time mode.
    """
    version = tuple(int(number) for number in re.findall(r"\d+", spark)[:2])
    if version < _FIRST_REAL_TIME:
        raise ValueError(
            f"real_time=True requires Spark 4.1 or later, and this is Spark {spark}, which has no "
            "real-time mode. Remove the argument, and use a trigger of micro-batches"
        )
    for name, value in _REAL_TIME_SETTINGS.items():
        builder = builder.config(name, value)
    return builder


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
    # Spark resolves those of the arguments, and then ignores those of the builder.
    packages = submitted(PACKAGES) or {**default, **options}.get(PACKAGES) or ""
    if ":spark-kinesis_" in packages:
        return builder
    arguments = submitted(JARS)
    if arguments or (packages and not of_builder):
        submit_jars(added(arguments or default.get(JARS, ""), jar))
        if not of_builder:
            return builder
    return builder.config(JARS, added(of_builder or default.get(JARS, ""), jar))


def _options_of(builder: SparkSession.Builder) -> dict[str, str]:
    """The options set on a builder so far. It has no public way to ask."""
    options: dict[str, object] = getattr(builder, "_options", {})
    return {name: str(value) for name, value in options.items()}


def submitted(setting: str) -> str | None:
    """The jars or packages in ``PYSPARK_SUBMIT_ARGS``, by their own option or by ``--conf``."""
    pairs = _pairs(_words())
    by_option = [value for name, value in pairs if name == _OPTIONS[setting]]
    prefix = f"{setting}="
    by_conf = [
        value.removeprefix(prefix)
        for name, value in pairs
        if name in ("--conf", "-c") and value.startswith(prefix)
    ]
    return next(reversed(by_conf + by_option), None)


def submit_jars(jars: str) -> None:
    """Set ``--jars`` in ``PYSPARK_SUBMIT_ARGS``, and leave the other arguments as they are.

    Programs that this process starts inherit the environment, and so the jars.
    """
    words, others, skip = _words(), [], False
    option = _OPTIONS[JARS]
    for word in words:
        if not skip and word != option and not word.startswith(f"{option}="):
            others.append(word)
        skip = word == option
    os.environ[_SUBMIT_ARGUMENTS] = shlex.join([option, jars, *others])


def added(jars: str, jar: str) -> str:
    """A comma-separated list with one more jar.

    Spark gives jars to executors by file name, one jar per name. A jar of that name stays.
    """
    listed = [entry.strip() for entry in jars.split(",") if entry.strip()]
    names = [PurePath(entry).name for entry in listed]
    return ",".join(listed if PurePath(jar).name in names else [*listed, jar])


def _words() -> list[str]:
    return shlex.split(os.environ.get(_SUBMIT_ARGUMENTS, "pyspark-shell"))


def _pairs(words: list[str]) -> list[tuple[str, str]]:
    """Every ``--name value`` and ``--name=value``."""
    joined = [word.partition("=") for word in words if word.startswith("--")]
    apart = [pair for pair in pairwise(words) if pair[0].startswith("-")]
    return [(name, value) for name, equals, value in joined if equals] + apart
