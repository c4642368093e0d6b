"""The connector's jar into a Spark session."""

from __future__ import annotations

import os
import shlex
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import TYPE_CHECKING

from ._errors import KinesisJarMissing
from ._jar import jar_path

if TYPE_CHECKING:
    from pyspark.sql import SparkSession

_JARS = "spark.jars"
_SUBMIT_ARGS = "PYSPARK_SUBMIT_ARGS"


def with_kinesis(builder: SparkSession.Builder) -> SparkSession.Builder:
    """Add the connector's jar to a session that is about to start.

    Jars the user asked for stay, whether on this builder, in ``spark-defaults.conf`` or in
    ``PYSPARK_SUBMIT_ARGS``. Works for classic sessions and for ``.remote("local[...]")``. A server
    far away (``sc://host``) must bring the jar itself; there the builder is returned unchanged.

    Args:
        builder: ``SparkSession.builder`` with whatever else it needs.

    Returns:
        The same builder.

    Raises:
        JarNotFound: when this installation has no jar.
    """
    options = _options_of(builder)
    remote = options.get("spark.remote") or os.environ.get("SPARK_REMOTE", "")
    if remote.startswith("sc://"):
        return builder
    jar = jar_path()
    submit_args = os.environ.get(_SUBMIT_ARGS)
    if submit_args is not None:
        # spark-submit takes these over the builder's settings, so the jar must be in them too.
        os.environ[_SUBMIT_ARGS] = _in_submit_args(submit_args, jar)
    set_by_user = options.get(_JARS) or _default_jars()
    return builder.config(_JARS, _added(set_by_user, jar))


@contextmanager
def explain_missing_jar() -> Iterator[None]:
    """Turn Spark's "no such data source" into what to do about it.

    Raises:
        KinesisJarMissing: in place of ``DATA_SOURCE_NOT_FOUND``.
    """
    try:
        yield
    # Its class differs between classic and Connect and between versions; its text does not.
    except Exception as error:
        if "DATA_SOURCE_NOT_FOUND" not in str(error):
            raise
        raise KinesisJarMissing(
            "this Spark session was started without the Kinesis connector. Start it with "
            "spark_kinesis.with_kinesis(SparkSession.builder).getOrCreate() in a fresh Python "
            "process (a running JVM takes no jar), or on a remote Spark Connect server call "
            "spark.addArtifacts(spark_kinesis.jar_path()) first"
        ) from error


def _options_of(builder: SparkSession.Builder) -> dict[str, str]:
    """What was set on a builder so far; it has no public way to ask."""
    options: dict[str, object] = getattr(builder, "_options", {})
    return {name: str(value) for name, value in options.items()}


def _added(jars: str, jar: str) -> str:
    """A comma-separated list with one more entry, once."""
    listed = [entry.strip() for entry in jars.split(",") if entry.strip()]
    return ",".join(listed if jar in listed else [*listed, jar])


def _in_submit_args(arguments: str, jar: str) -> str:
    """The same arguments, with the jar wherever they set jars."""
    words = shlex.split(arguments)
    for at, word in enumerate(words):
        previous = words[at - 1] if at else ""
        for start in ("--jars=", f"{_JARS}=", f"--conf={_JARS}="):
            if word.startswith(start) and (start != f"{_JARS}=" or previous in ("--conf", "-c")):
                words[at] = start + _added(word[len(start) :], jar)
        if previous == "--jars":
            words[at] = _added(word, jar)
    return shlex.join(words)


def _default_jars() -> str:
    """``spark.jars`` of ``spark-defaults.conf``, which a builder's own value would replace."""
    home = os.environ.get("SPARK_HOME")
    folder = os.environ.get("SPARK_CONF_DIR") or (home and str(Path(home) / "conf"))
    file = Path(folder or "") / "spark-defaults.conf"
    if not folder or not file.is_file():
        return ""
    for line in file.read_text(encoding="utf-8").splitlines():
        name, _, value = line.strip().replace("=", " ", 1).partition(" ")
        if name == _JARS:
            return value.strip()
    return ""
