"""The jars in this package."""

from __future__ import annotations

import os
from importlib.resources import files
from pathlib import Path
from typing import Literal

from spark_kinesis._errors import JarNotFoundError
from spark_kinesis._options.values import require_word

from .spark import scala_version

ScalaVersion = Literal["2.12", "2.13"]
JAR_VARIABLE = "SPARK_KINESIS_JAR"
SIMULATOR_VARIABLE = "SPARK_KINESIS_SIMULATOR_JAR"


def jar_path(scala: ScalaVersion | None = None) -> str:
    """The absolute path of the connector's jar.

    The environment variable ``SPARK_KINESIS_JAR`` replaces the jars of this package.

    Args:
        scala: the Scala version of the Spark that will run it: ``"2.13"`` for Spark 4, ``"2.12"``
            for Spark 3.5 as on EMR 7 and Glue 5. Default: that of the installed Spark
            (``SPARK_HOME``, then the pyspark package), and ``"2.13"`` if none is installed.

    Raises:
        JarNotFoundError: if there is no such file.
        ValueError: for another Scala version.
    """
    require_word("scala", scala, ScalaVersion)
    return _find(f"spark-kinesis_{scala or scala_version() or '2.13'}-", JAR_VARIABLE)


def simulator_jar_path() -> str:
    """The absolute path of the jar of the local Kinesis.

    The environment variable ``SPARK_KINESIS_SIMULATOR_JAR`` replaces the jar of this package.

    Raises:
        JarNotFoundError: if there is no such file.
    """
    return _find("spark-kinesis-simulator_2.13-", SIMULATOR_VARIABLE)


def _find(prefix: str, variable: str) -> str:
    override = os.environ.get(variable)
    if override:
        path = Path(override)
        if path.is_file():
            return str(path.absolute())
        raise JarNotFoundError(f"{variable} is {override!r}, but there is no such file")
    package = files("spark_kinesis")
    name = f"{prefix}{package.joinpath('VERSION').read_text().strip()}.jar"
    jar = package.joinpath("jars", name)
    if not jar.is_file():
        raise JarNotFoundError(
            f"This installation of spark-kinesis has no {name}. Install the wheel of a release or, "
            f"in the repository, build it with `make wheel`. Or set {variable} to the path of a jar"
        )
    return str(jar)
