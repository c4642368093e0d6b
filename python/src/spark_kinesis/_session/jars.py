"""The jars in this package, and the installed Spark, found without starting it."""

from __future__ import annotations

import os
import re
from importlib.util import find_spec
from pathlib import Path
from pkgutil import get_data
from typing import Literal

from spark_kinesis._errors import JarNotFoundError

ScalaVersion = Literal["2.12", "2.13"]
JAR_VARIABLE = "SPARK_KINESIS_JAR"
SIMULATOR_VARIABLE = "SPARK_KINESIS_SIMULATOR_JAR"
_PACKAGE = Path(__file__).absolute().parent.parent
_SETTING = re.compile(r"\s*([^\s=:#!]+)\s*[=:\s]\s*(.*?)\s*")
_SCALA = re.compile(r"scala-library-(2\.\d+)\.")


def version() -> str:
    """The version of this package."""
    return (get_data("spark_kinesis", "VERSION") or b"").decode().strip()


def jar_path(scala: ScalaVersion | None = None) -> str:
    """The absolute path of the connector's jar.

    The environment variable ``SPARK_KINESIS_JAR`` replaces the jars of this package.

    Args:
        scala: the Scala version of the Spark that will run it: ``"2.13"`` for Spark 4, ``"2.12"``
            for Spark 3.5 as on EMR 7 and Glue 5. Default: that of the installed Spark
            (``SPARK_HOME``, then the pyspark package), and ``"2.13"`` if none is installed.

    Raises:
        JarNotFoundError: if there is no such file.
    """
    return _find(f"spark-kinesis_{scala or scala_version() or '2.13'}-", JAR_VARIABLE)


def simulator_jar_path() -> str:
    """The absolute path of the jar of the local Kinesis.

    The environment variable ``SPARK_KINESIS_SIMULATOR_JAR`` replaces the jar of this package.

    Raises:
        JarNotFoundError: if there is no such file.
    """
    return _find("spark-kinesis-simulator_2.13-", SIMULATOR_VARIABLE)


def spark_homes() -> list[Path]:
    """The folders of Spark, in Spark's order: ``SPARK_HOME``, then that of the pyspark package."""
    pyspark = find_spec("pyspark")
    packages = [Path(folder) for folder in (pyspark and pyspark.submodule_search_locations) or ()]
    home = os.environ.get("SPARK_HOME")
    return [*([Path(home)] if home else []), *map(_home_of, packages)]


def scala_version() -> str | None:
    """The Scala version of the installed Spark, such as ``"2.13"``; ``None`` without a Spark."""
    for home in spark_homes():
        for jar in sorted((home / "jars").glob("scala-library-*.jar")):
            found = _SCALA.match(jar.name)
            if found:
                return found[1]
    return None


def default_settings() -> dict[str, str]:
    """The settings of ``spark-defaults.conf``; none if there is no such file."""
    folders = [os.environ.get("SPARK_CONF_DIR"), *(home / "conf" for home in spark_homes())]
    file = next((Path(folder) for folder in folders if folder), Path()) / "spark-defaults.conf"
    if not file.is_file():
        return {}
    lines = map(_SETTING.fullmatch, file.read_text(encoding="utf-8").splitlines())
    return {found[1]: found[2] for found in lines if found}


def _find(prefix: str, variable: str) -> str:
    override = os.environ.get(variable)
    if override:
        path = Path(override)
        if path.is_file():
            return str(path.absolute())
        raise JarNotFoundError(f"{variable} is {override!r}, but there is no such file")
    name = f"{prefix}{version()}.jar"
    jar = _PACKAGE / "jars" / name
    if not jar.is_file():
        raise JarNotFoundError(
            f"This installation of spark-kinesis has no {name}. Install the wheel of a release or, "
            f"in the repository, build it with `make wheel`. Or set {variable} to the path of a jar"
        )
    return str(jar)


def _home_of(package: Path) -> Path:
    """A distribution has the package in ``python/pyspark``; pip's package carries the jars."""
    distribution = package.parent.parent
    return distribution if (distribution / "jars").is_dir() else package
