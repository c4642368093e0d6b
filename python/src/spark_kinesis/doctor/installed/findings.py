"""Which versions fit together. Makes no calls."""

from __future__ import annotations

from spark_kinesis.doctor.finding import Finding, ok, problem, unknown

from .facts import Installed, numbers
from .jar_findings import jar_findings

SECTION = "software"
OLDEST_PYTHON = (3, 10)
OLDEST_JAVA, TESTED_JAVA = 17, (17, 21)
# Both ends are included: docs/reference/spark-versions.md.
OLDEST_SPARK, NEWEST_SPARK = (3, 5), (4, 3)
SPARK_4 = (4, 0)


def installed_findings(found: Installed) -> list[Finding]:
    """Python, Java, Spark, Scala, and the jars."""
    findings = [_python(found), _java(found), _spark(found)]
    if found.spark is not None and found.scala is not None:
        findings.append(ok(SECTION, "scala", f"Spark has Scala {found.scala}"))
    return [*findings, *jar_findings(found)]


def _python(found: Installed) -> Finding:
    seen = f"Python {found.python}, spark-kinesis {found.package}"
    if numbers(found.python) < OLDEST_PYTHON:
        return problem(SECTION, "python", seen, "Install Python 3.10 or newer.")
    return ok(SECTION, "python", seen)


def _java(found: Installed) -> Finding:
    if found.java is None:
        if found.is_session:
            return unknown(SECTION, "java", "the session does not show its Java version")
        return problem(
            SECTION,
            "java",
            "no Java was found in JAVA_HOME or on the PATH",
            "Install a JDK 17 or 21, and set JAVA_HOME to its folder.",
        )
    major = next(iter(numbers(found.java)), 0)
    seen = f"Java {found.java}"
    if major < OLDEST_JAVA:
        return problem(
            SECTION,
            "java",
            f"{seen} is too old for the connector",
            "Install a JDK 17 or 21, and set JAVA_HOME to its folder on the driver and on each "
            "executor.",
        )
    if major not in TESTED_JAVA:
        return unknown(
            SECTION, "java", f"{seen} is not a version that we test", "Java 17 and 21 are."
        )
    return ok(SECTION, "java", seen)


def _spark(found: Installed) -> Finding:
    if found.spark is None:
        return problem(
            SECTION,
            "spark",
            "no Spark was found",
            "Install one: pip install 'spark-kinesis[spark]', or set SPARK_HOME.",
        )
    version = numbers(found.spark)[:2]
    seen = f"Spark {found.spark}"
    if version < OLDEST_SPARK:
        return problem(
            SECTION,
            "spark",
            f"{seen} is too old for the connector",
            "Use Spark 4.0 to 4.3, or Spark 3.5 for streaming queries.",
        )
    if version > NEWEST_SPARK:
        return unknown(
            SECTION, "spark", f"{seen} is newer than this release", "Spark 4.0 to 4.3 are tested."
        )
    if version < SPARK_4:
        return ok(SECTION, "spark", f"{seen}, which supports streaming queries only")
    return ok(SECTION, "spark", seen)
