"""Which versions fit together, and is the connector's jar on the class path, once?

It looks at a running session, or at the software with which a session would start. It starts no
job.
"""

from __future__ import annotations

import os
import platform
import re
import subprocess
from collections.abc import Iterator
from dataclasses import dataclass
from importlib.util import find_spec
from pathlib import Path
from typing import TYPE_CHECKING, Any

from spark_kinesis import KinesisJarMissingError, SparkKinesisError, __version__
from spark_kinesis._extras import SPARK
from spark_kinesis._session.jars import jar_path, scala_version, spark_homes
from spark_kinesis._session.missing import require_connector

from .finding import Finding, Section

if TYPE_CHECKING:
    from pyspark.sql import SparkSession

    from .finding import Setup

SOFTWARE = Section("software")
OLDEST_JAVA, TESTED_JAVA = 17, (17, 21)
# Both ends are included: docs/reference/spark-versions.md.
OLDEST_SPARK, NEWEST_SPARK = (3, 5), (4, 3)
_JAR_NAME = re.compile(r"spark-kinesis_(\d+\.\d+)-(.+)\.jar$")
_SPARK_JAR = re.compile(r"spark-core_\d+\.\d+-(.+)\.jar$")
_JAVA_VERSION = re.compile(r'version "([^"]+)"')
_JAVA_SECONDS = 30.0
# Each jar with the connector has this class once.
_CLASS = "sparkkinesis/spark/KinesisTableProvider.class"


@dataclass(frozen=True, kw_only=True)
class Installed:
    """The software of a running session, or of one that would start in this environment."""

    is_session: bool  # whether it is that of a running session
    java: str | None  # version. ``None`` if there is none, or if the session does not tell.
    spark: str | None  # version. ``None`` if none is installed.
    scala: str | None  # version for which that Spark is built, such as ``2.13``, if it is known
    jars: tuple[str, ...] = ()  # paths or URLs of the connector's jars on the class path, if known
    lack: str = ""  # what to do, because a session would have no connector. Empty if it has one.


def software_check(setup: Setup) -> Iterator[Finding]:
    """Versions and jars."""
    return software_findings(find_installed(setup.spark))


def software_findings(found: Installed) -> Iterator[Finding]:
    """Python, Java, Spark, Scala, and the jars. Makes no calls."""
    versions = f"Python {platform.python_version()}, spark-kinesis {__version__}"
    yield SOFTWARE.ok("python", versions)
    if found.java is not None or not found.is_session:  # a Connect session does not show it
        yield _java(found.java)
    yield _spark(found)
    yield _on_class_path(found)


def _java(version: str | None) -> Finding:
    remedy = "On the driver and each executor, install a JDK 17 or 21, and set JAVA_HOME to it."
    if version is None:
        return SOFTWARE.problem("java", "no Java was found in JAVA_HOME or on the PATH", remedy)
    major, seen = next(iter(numbers(version)), 0), f"Java {version}"
    if major < OLDEST_JAVA:
        return SOFTWARE.problem("java", f"{seen} is too old for the connector", remedy)
    if major not in TESTED_JAVA:
        return SOFTWARE.unknown("java", f"{seen} is not tested", "Java 17 and 21 are.")
    return SOFTWARE.ok("java", seen)


def _spark(found: Installed) -> Finding:
    if found.spark is None:
        remedy = f"Install one: pip install {SPARK}, or set SPARK_HOME."
        return SOFTWARE.problem("spark", "no Spark was found", remedy)
    version, seen = numbers(found.spark)[:2], f"Spark {found.spark}"
    if version < OLDEST_SPARK:
        remedy = "Use Spark 4.0 to 4.3, or Spark 3.5 for streaming queries."
        return SOFTWARE.problem("spark", f"{seen} is too old for the connector", remedy)
    if version > NEWEST_SPARK:
        seen += " is newer than this release"
        return SOFTWARE.unknown("spark", seen, "Spark 4.0 to 4.3 are tested.")
    return SOFTWARE.ok("spark", f"{seen} with Scala {found.scala}" if found.scala else seen)


def _on_class_path(found: Installed) -> Finding:
    jars = found.jars
    if len(jars) > 1:
        return SOFTWARE.problem(
            "jar",
            f"the connector is on the class path {len(jars)} times: {', '.join(jars)}",
            "Keep one of these jars, and restart the session: Spark may mix their classes.",
        )
    if jars:
        return _jar(jars[0], found.scala)
    if not found.is_session:
        if not found.lack:
            seen = "this package contains the jar, and with_kinesis adds it to a session"
            return SOFTWARE.ok("jar", seen)
        return SOFTWARE.problem("jar", f"no jar for this Spark: {found.lack}", _RELEASE)
    if found.lack:
        return SOFTWARE.problem("jar", "the running session has no connector", found.lack)
    return SOFTWARE.ok("jar", "the session has the connector")


_RELEASE = (
    "Install the wheel of a release. It contains the jars for Scala 2.12 and 2.13. In the "
    "repository, run make dist. Or set SPARK_KINESIS_JAR to the path of a jar."
)


def _jar(place: str, wanted: str | None) -> Finding:
    """Does the only jar fit Spark and this package, by its name?"""
    named = _JAR_NAME.search(place)
    scala, version = named.groups() if named else (wanted, __version__)
    if wanted in (None, scala) and version == __version__:
        return SOFTWARE.ok("jar", f"the connector's jar is {place}")
    return SOFTWARE.problem(
        "jar",
        f"{place} is version {version} for Scala {scala}. The Python package is {__version__}, and "
        f"Spark has Scala {wanted or scala}",
        f"Use the jar at spark_kinesis.jar_path({wanted or scala!r}), or the wheel of its version.",
    )


def find_installed(spark: SparkSession | None) -> Installed:
    """What is installed in a session, in the active one, or in this environment."""
    session = spark
    if session is None and find_spec("pyspark") is not None:
        from pyspark.sql import SparkSession  # noqa: PLC0415 optional, and slow to load

        session = SparkSession.getActiveSession()
    return _installed_here() if session is None else _installed_in(session)


def _installed_here() -> Installed:
    try:
        jar_path()
        lack = ""
    except SparkKinesisError as error:
        lack = str(error)
    cores = (jar for home in spark_homes() for jar in (home / "jars").glob("spark-core_*.jar"))
    sparks = (_SPARK_JAR.search(jar.name) for jar in cores)
    return Installed(
        is_session=False,
        java=_java_version(),
        spark=next((it[1] for it in sparks if it), None),
        scala=scala_version(),
        lack=lack,
    )


def _java_version() -> str | None:
    home = os.environ.get("JAVA_HOME")
    # Spark starts the Java of JAVA_HOME, and no other if it is set.
    java = str(Path(home, "bin", "java")) if home else "java"
    try:
        ended = subprocess.run(
            [java, "-version"], capture_output=True, text=True, timeout=_JAVA_SECONDS, check=False
        )
    except (OSError, subprocess.SubprocessError):
        return None
    found = _JAVA_VERSION.search(ended.stderr + ended.stdout)
    return found[1] if found else None


def _installed_in(spark: SparkSession) -> Installed:
    """The software of a session. A Spark Connect session shows less than a classic one."""
    lack = ""
    try:
        require_connector(spark)
    except KinesisJarMissingError as error:
        lack = str(error)
    if "connect" in type(spark).__module__:
        return Installed(is_session=True, java=None, spark=spark.version, scala=None, lack=lack)
    jvm: Any = spark.sparkContext._jvm  # noqa: SLF001
    scala = str(jvm.scala.util.Properties.versionNumberString())
    return Installed(
        is_session=True,
        java=jvm.java.lang.System.getProperty("java.version"),
        spark=spark.version,
        scala=".".join(map(str, numbers(scala)[:2])),
        jars=tuple(dict.fromkeys(_jars_in(jvm))),
        lack=lack,
    )


def _jars_in(jvm: Any) -> Iterator[str]:
    """The jars in which the class loader of the driver finds the connector."""
    loader = jvm.org.apache.spark.util.Utils.getContextOrSparkClassLoader()
    resources = loader.getResources(_CLASS)
    while resources.hasMoreElements():
        place = str(resources.nextElement().toString())
        yield place.removeprefix("jar:").removesuffix(f"/{_CLASS}").removesuffix("!")


def numbers(version: str) -> tuple[int, ...]:
    """The leading numbers of a version: ``4.0.5-amzn-1`` is (4, 0, 5)."""
    leading = re.match(r"\d+(\.\d+)*", version)
    return tuple(map(int, leading[0].split("."))) if leading else ()
