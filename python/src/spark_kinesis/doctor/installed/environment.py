"""Looks at what is installed: in a running session, or in this environment."""

from __future__ import annotations

import os
import platform
import re
import shutil
import subprocess
from importlib.util import find_spec
from pathlib import Path
from typing import TYPE_CHECKING

from spark_kinesis import SparkKinesisError, __version__
from spark_kinesis._session.builder import JARS, submitted
from spark_kinesis._session.jars import default_settings, jar_path, scala_version, spark_homes

from .facts import Installed, Jar, named_jar
from .session import installed_in

if TYPE_CHECKING:
    from pyspark.sql import SparkSession

_SECONDS = 30.0
_JAVA_VERSION = re.compile(r'version "([^"]+)"')
_SPARK_JAR = re.compile(r"spark-core_\d+\.\d+-(.+)\.jar$")


def find_installed(spark: SparkSession | None) -> Installed:
    """What is installed.

    Args:
        spark: a session to look at; default: the active session of this process, and without one
            the software with which a session would start.
    """
    session = spark if spark is not None else _active()
    return installed_here() if session is None else installed_in(session)


def installed_here() -> Installed:
    """The software with which a session would start."""
    return Installed(
        is_session=False,
        package=__version__,
        python=platform.python_version(),
        java=_java_version(),
        spark=_spark_version(),
        scala=scala_version(),
        packaged=_is_packaged(),
        jars=tuple(_jars()),
    )


def _active() -> SparkSession | None:
    if find_spec("pyspark") is None:
        return None
    from pyspark.sql import SparkSession  # noqa: PLC0415 optional, and slow to load

    return SparkSession.getActiveSession()


def _java_version() -> str | None:
    home = os.environ.get("JAVA_HOME")
    # Spark starts the Java of JAVA_HOME, and no other if it is set.
    java = str(Path(home, "bin", "java")) if home else shutil.which("java")
    if java is None or shutil.which(java) is None:
        return None
    try:
        ended = subprocess.run(
            [java, "-version"], capture_output=True, text=True, timeout=_SECONDS, check=False
        )
    except (OSError, subprocess.SubprocessError):
        return None
    found = _JAVA_VERSION.search(ended.stderr + ended.stdout)
    return found[1] if found else None


def _spark_version() -> str | None:
    for home in spark_homes():
        for jar in (home / "jars").glob("spark-core_*.jar"):
            found = _SPARK_JAR.search(jar.name)
            if found:
                return found[1]
    return None


def _is_packaged() -> bool:
    try:
        jar_path()
    except SparkKinesisError:
        return False
    return True


def _jars() -> list[Jar]:
    """The connector's jars that a session has without ``with_kinesis``."""
    homes = spark_homes()[:1]
    in_spark = [str(jar) for home in homes for jar in (home / "jars").glob("spark-kinesis_*.jar")]
    named = submitted(JARS) or default_settings().get(JARS, "")
    places = [*in_spark, *(entry.strip() for entry in named.split(","))]
    return [jar for jar in map(named_jar, places) if jar is not None]
