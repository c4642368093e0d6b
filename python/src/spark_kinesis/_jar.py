"""Where the connector's jar is."""

from __future__ import annotations

import os
from importlib.resources import files
from pathlib import Path

from ._errors import JarNotFoundError

JAR_VARIABLE = "SPARK_KINESIS_JAR"
SIMULATOR_VARIABLE = "SPARK_KINESIS_SIMULATOR_JAR"


def jar_path() -> str:
    """The absolute path of the connector jar.

    The environment variable ``SPARK_KINESIS_JAR`` comes first, then the jar in this package.

    Raises:
        JarNotFoundError: when there is no such file.
    """
    return _find("spark-kinesis_2.13-", JAR_VARIABLE)


def simulator_jar_path() -> str:
    """The absolute path of the local Kinesis' jar.

    The environment variable ``SPARK_KINESIS_SIMULATOR_JAR`` comes first.

    Raises:
        JarNotFoundError: when there is no such file.
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
            f"this installation of spark-kinesis has no {name}: "
            f"install the wheel (`make wheel` in the repository) or set {variable}"
        )
    return str(jar)
