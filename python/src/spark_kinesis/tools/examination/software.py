"""Which versions fit together, and is the connector's jar on the class path, once?"""

from __future__ import annotations

from collections.abc import Iterator
from typing import TYPE_CHECKING

from spark_kinesis._extras import SPARK

from .finding import Finding, Section
from .installed import find_installed, numbers

if TYPE_CHECKING:
    from .installed import Installed
    from .setup import Setup

SOFTWARE = Section("software")
OLDEST_JAVA, TESTED_JAVA = 17, (17, 21)
# Both ends are included: docs/reference/spark-versions.md.
OLDEST_SPARK, NEWEST_SPARK = (3, 5), (4, 3)
SPARK_4 = (4, 0)


def software_check(setup: Setup) -> list[Finding]:
    """Versions and jars."""
    return software_findings(find_installed(setup.spark))


def software_findings(found: Installed) -> list[Finding]:
    """Python, Java, Spark, Scala, and the jars. Makes no calls."""
    python = SOFTWARE.ok("python", f"Python {found.python}, spark-kinesis {found.package}")
    findings = [python, _java(found), _spark(found)]
    if found.spark is not None and found.scala is not None:
        findings.append(SOFTWARE.ok("scala", f"Spark has Scala {found.scala}"))
    findings += [_on_class_path(found), *_wrong_jars(found)]
    if found.rival is not None and len(found.jars or ()) <= 1:
        rival = SOFTWARE.problem(
            "format name",
            f"several data sources have the format name kinesis: {found.rival}",
            "Use the format name spark-kinesis, or remove the jar of the other connector.",
        )
        findings.append(rival)
    return findings


def _java(found: Installed) -> Finding:
    if found.java is None:
        if found.is_session:
            return SOFTWARE.unknown("java", "the session does not show its Java version")
        return SOFTWARE.problem(
            "java",
            "no Java was found in JAVA_HOME or on the PATH",
            "Install a JDK 17 or 21, and set JAVA_HOME to its folder.",
        )
    major = next(iter(numbers(found.java)), 0)
    seen = f"Java {found.java}"
    if major < OLDEST_JAVA:
        return SOFTWARE.problem(
            "java",
            f"{seen} is too old for the connector",
            "Install a JDK 17 or 21, and set JAVA_HOME to its folder on the driver and on each "
            "executor.",
        )
    if major not in TESTED_JAVA:
        seen += " is not a version that we test"
        return SOFTWARE.unknown("java", seen, "Java 17 and 21 are.")
    return SOFTWARE.ok("java", seen)


def _spark(found: Installed) -> Finding:
    if found.spark is None:
        return SOFTWARE.problem(
            "spark",
            "no Spark was found",
            f"Install one: pip install {SPARK}, or set SPARK_HOME.",
        )
    version = numbers(found.spark)[:2]
    seen = f"Spark {found.spark}"
    if version < OLDEST_SPARK:
        return SOFTWARE.problem(
            "spark",
            f"{seen} is too old for the connector",
            "Use Spark 4.0 to 4.3, or Spark 3.5 for streaming queries.",
        )
    if version > NEWEST_SPARK:
        seen += " is newer than this release"
        return SOFTWARE.unknown("spark", seen, "Spark 4.0 to 4.3 are tested.")
    if version < SPARK_4:
        seen += ", which supports streaming queries only"
    return SOFTWARE.ok("spark", seen)


def _on_class_path(found: Installed) -> Finding:
    if found.jars is None:
        return _by_name(found)
    places = tuple(it.place for it in found.jars)
    if len(places) > 1:
        return SOFTWARE.problem(
            "jar",
            f"the connector is on the class path {len(places)} times",
            "Keep one of these jars, and restart the session: Spark may mix their classes.",
            places,
        )
    if places:
        return SOFTWARE.ok("jar", f"the connector's jar is {places[0]}")
    if found.is_session:
        seen = "the connector's jar is not in the running session"
        return SOFTWARE.problem("jar", seen, found.advice)
    if found.packaged:
        seen = "this package contains the jar, and with_kinesis adds it to a session"
        return SOFTWARE.ok("jar", seen)
    return SOFTWARE.problem(
        "jar",
        f"this package has no jar for Scala {found.scala or '2.13'}",
        "Install the wheel of a release. It contains the jars for Scala 2.12 and 2.13. In the "
        "repository, run make dist. Or set SPARK_KINESIS_JAR to the path of a jar.",
    )


def _by_name(found: Installed) -> Finding:
    if found.has_connector is None:
        return SOFTWARE.unknown("jar", "the session does not show its class path")
    if found.has_connector:
        return SOFTWARE.ok("jar", "the session has the connector")
    return SOFTWARE.problem("jar", "the running session has no connector", found.advice)


def _wrong_jars(found: Installed) -> Iterator[Finding]:
    for jar in found.jars or ():
        if None not in (jar.scala, found.scala) and jar.scala != found.scala:
            yield SOFTWARE.problem(
                "jar",
                f"{jar.place} is for Scala {jar.scala}, and Spark has Scala {found.scala}",
                f"Use the jar at spark_kinesis.jar_path({found.scala!r}).",
            )
        if jar.version not in (None, found.package):
            yield SOFTWARE.problem(
                "jar",
                f"{jar.place} is version {jar.version}, and the Python package is {found.package}",
                "Use the jar at spark_kinesis.jar_path(), or install the wheel of version "
                f"{jar.version}.",
            )
