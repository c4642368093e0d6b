"""Looks at what is installed: in a running session, or in this environment. Starts no job."""

from __future__ import annotations

import os
import platform
import re
import shutil
import subprocess
from dataclasses import dataclass
from importlib.util import find_spec
from pathlib import Path
from typing import TYPE_CHECKING, Any

from spark_kinesis import KinesisJarMissingError, SparkKinesisError, __version__
from spark_kinesis._session.builder import JARS, submitted
from spark_kinesis._session.jars import default_settings, jar_path, scala_version, spark_homes
from spark_kinesis._session.missing import require_connector

if TYPE_CHECKING:
    from pyspark.sql import SparkSession

_JAR_NAME = re.compile(r"spark-kinesis_(\d+\.\d+)-(.+)\.jar$")
_SPARK_JAR = re.compile(r"spark-core_\d+\.\d+-(.+)\.jar$")
_JAVA_VERSION = re.compile(r'version "([^"]+)"')
_JAVA_SECONDS = 30.0
# Each jar with the connector has this class once.
_CLASS = "sparkkinesis/spark/KinesisTableProvider.class"
_CONTAINER = re.compile(r"^(?:jar:)?(.*?)!?/" + re.escape(_CLASS) + "$")
_SEVERAL = "Multiple sources found"
_MAX_COMPLAINT = 300


@dataclass(frozen=True, kw_only=True)
class Jar:
    """A jar that contains the connector."""

    place: str  # path or URL
    scala: str | None = None  # Scala version of its build. ``None`` if its name does not tell.
    version: str | None = None  # version of the connector. ``None`` if its name does not tell.


@dataclass(frozen=True, kw_only=True)
class Installed:
    """The software that a query would use.

    Attributes:
        is_session: whether the facts are those of a running Spark session. Otherwise they are
            those of a session that starts in this environment.
        java: version of Java. ``None`` if there is none, or if the session does not tell.
        jars: jars with the connector on the class path. ``None`` if unknown.
        packaged: whether this package contains the jar for that Scala version.
        has_connector: whether Spark finds the connector by its name. ``None`` if nobody asked.
        rival: Spark's complaint that several data sources have the name ``kinesis``, or ``None``.
    """

    is_session: bool
    package: str = __version__  # version of the Python package ``spark-kinesis``
    python: str  # version of Python
    java: str | None
    spark: str | None  # version of Spark. ``None`` if none is installed.
    scala: str | None  # Scala version of that Spark, such as ``2.13``
    jars: tuple[Jar, ...] | None
    packaged: bool = True
    has_connector: bool | None = None
    advice: str = ""  # how to add the jar in this environment
    rival: str | None = None


def find_installed(spark: SparkSession | None) -> Installed:
    """What is installed.

    Args:
        spark: a session to look at; default: the active session of this process, and without one
            the software with which a session would start.
    """
    session = spark if spark is not None else _active()
    return _installed_here() if session is None else _installed_in(session)


def _active() -> SparkSession | None:
    if find_spec("pyspark") is None:
        return None
    from pyspark.sql import SparkSession  # noqa: PLC0415 optional, and slow to load

    return SparkSession.getActiveSession()


def _installed_here() -> Installed:
    return Installed(
        is_session=False,
        python=platform.python_version(),
        java=_java_version(),
        spark=_spark_version(),
        scala=scala_version(),
        packaged=_is_packaged(),
        jars=tuple(_jars_here()),
    )


def _java_version() -> str | None:
    home = os.environ.get("JAVA_HOME")
    # Spark starts the Java of JAVA_HOME, and no other if it is set.
    java = str(Path(home, "bin", "java")) if home else shutil.which("java")
    if java is None or shutil.which(java) is None:
        return None
    try:
        ended = subprocess.run(
            [java, "-version"], capture_output=True, text=True, timeout=_JAVA_SECONDS, check=False
        )
    except (OSError, subprocess.SubprocessError):
        return None
    found = _JAVA_VERSION.search(ended.stderr + ended.stdout)
    return found[1] if found else None


def _spark_version() -> str | None:
    jars = (jar for home in spark_homes() for jar in (home / "jars").glob("spark-core_*.jar"))
    found = (_SPARK_JAR.search(jar.name) for jar in jars)
    return next((it[1] for it in found if it), None)


def _is_packaged() -> bool:
    try:
        jar_path()
    except SparkKinesisError:
        return False
    return True


def _jars_here() -> list[Jar]:
    """The connector's jars that a session has without ``with_kinesis``."""
    homes = spark_homes()[:1]
    in_spark = [str(jar) for home in homes for jar in (home / "jars").glob("spark-kinesis_*.jar")]
    named = submitted(JARS) or default_settings().get(JARS, "")
    places = [*in_spark, *(entry.strip() for entry in named.split(","))]
    return [jar for jar in map(named_jar, places) if jar is not None]


def _installed_in(spark: SparkSession) -> Installed:
    """The software of a session. A Spark Connect session shows less than a classic one."""
    jvm = None if "connect" in type(spark).__module__ else spark.sparkContext._jvm  # noqa: SLF001
    advice = _missing(spark)
    return Installed(
        is_session=True,
        python=platform.python_version(),
        java=None if jvm is None else jvm.java.lang.System.getProperty("java.version"),
        spark=spark.version,
        scala=None if jvm is None else _scala(jvm),
        jars=None if jvm is None else tuple(_jars_in(jvm)),
        has_connector=advice is None,
        advice=advice or "",
        rival=_rival(spark),
    )


def _missing(spark: SparkSession) -> str | None:
    """What to do, if the session has no connector."""
    try:
        require_connector(spark)
    except KinesisJarMissingError as error:
        return str(error)
    return None


def _scala(jvm: Any) -> str | None:
    found = re.search(r"\d+\.\d+", str(jvm.scala.util.Properties.versionNumberString()))
    return found[0] if found else None


def _jars_in(jvm: Any) -> list[Jar]:
    """The jars in which the class loader of the driver finds the connector."""
    loader = jvm.org.apache.spark.util.Utils.getContextOrSparkClassLoader()
    resources = loader.getResources(_CLASS)
    places: list[str] = []
    while resources.hasMoreElements():
        found = _CONTAINER.match(resources.nextElement().toString())
        if found and found[1] not in places:
            places.append(found[1])
    return [named_jar(it) or Jar(place=it) for it in places]


def _rival(spark: SparkSession) -> str | None:
    """Spark's complaint about the name ``kinesis``, if another connector has it, too."""
    try:
        _ = spark.read.format("kinesis").load().schema
    except Exception as error:  # noqa: BLE001 it is refused in any case: it has no options
        text = str(error)
        return text[:_MAX_COMPLAINT] if _SEVERAL in text else None
    return None


def named_jar(place: str) -> Jar | None:
    """The jar from its path or URL. ``None`` if the name is not one of the connector's jars."""
    found = _JAR_NAME.search(place)
    return Jar(place=place, scala=found[1], version=found[2]) if found else None


def numbers(version: str) -> tuple[int, ...]:
    """The leading numbers of a version: ``4.0.5-amzn-1`` is (4, 0, 5)."""
    leading = re.match(r"\d+(\.\d+)*", version)
    return tuple(map(int, leading[0].split("."))) if leading else ()
