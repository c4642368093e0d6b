"""The command that runs a local Kinesis."""

from __future__ import annotations

import os
import shutil
from collections.abc import Mapping
from pathlib import Path

from spark_kinesis._errors import LocalKinesisError
from spark_kinesis._session.jars import jar_path, simulator_jar_path
from spark_kinesis._session.spark import spark_homes

from .settings import ServerSettings

_MAIN = "sparkkinesis.simulator.Main"
_JAVA_OPTIONS = (
    "-Djava.net.preferIPv4Stack=true",
    "-Dslf4j.internal.verbosity=ERROR",  # no warning that there is no logging library
)


def command(
    streams: Mapping[str, int], port: int, settings: ServerSettings | None = None
) -> list[str]:
    """The command and its arguments. The program ends when its standard input ends.

    Raises:
        LocalKinesisError: if Java or the jars of Spark are missing.
        JarNotFoundError: if this installation has no jar.
    """
    settings = settings or ServerSettings()
    jars = [jar_path("2.13"), simulator_jar_path(), *spark_jars()]
    words = [java(), f"-Xmx{settings.heap}", *_JAVA_OPTIONS, "-cp", os.pathsep.join(jars), _MAIN]
    words += ["--port", str(port), "--stop-with-stdin", *settings.arguments()]
    for name, shards in streams.items():
        words += ["--stream", f"{name}:{shards}"]
    return words


def java() -> str:
    """The path of ``java``, in ``JAVA_HOME`` or else on the ``PATH``.

    Raises:
        LocalKinesisError: if there is none.
    """
    home = os.environ.get("JAVA_HOME")
    found = shutil.which("java", path=str(Path(home) / "bin")) if home else None
    found = found or shutil.which("java")
    if found is None:
        raise LocalKinesisError("the local Kinesis needs Java 17 or newer: set JAVA_HOME")
    return found


def spark_jars() -> list[str]:
    """The jars of Scala and of the logging interface, both of the same Spark.

    Raises:
        LocalKinesisError: if no Spark has them.
    """
    for home in spark_homes():
        scala = sorted((home / "jars").glob("scala-library-2.13.*.jar"))
        logging = sorted((home / "jars").glob("slf4j-api-2.*.jar"))
        if scala and logging:
            return [str(scala[-1]), str(logging[-1])]
    raise LocalKinesisError(
        "the local Kinesis uses Scala 2.13 and slf4j 2 of a Spark 4, and none is installed: "
        "pip install 'spark-kinesis[spark]', or set SPARK_HOME to a Spark 4"
    )
