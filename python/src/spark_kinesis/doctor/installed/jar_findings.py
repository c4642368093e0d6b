"""Is the connector's jar on the class path, once, and the right one? Makes no calls."""

from __future__ import annotations

from typing import TYPE_CHECKING

from spark_kinesis.doctor.finding import Finding, ok, problem, unknown

if TYPE_CHECKING:
    from .facts import Installed, Jar

SECTION = "software"


def jar_findings(found: Installed) -> list[Finding]:
    """The jars on the class path, and the jar of this package."""
    findings = [_on_class_path(found), *_wrong_jars(found)]
    if found.rival is not None and len(found.jars or ()) <= 1:
        findings.append(
            problem(
                SECTION,
                "format name",
                f"several data sources have the format name kinesis: {found.rival}",
                "Use the format name spark-kinesis, or remove the jar of the other connector.",
            )
        )
    return findings


def _on_class_path(found: Installed) -> Finding:
    if found.jars is None:
        return _by_name(found)
    places = tuple(it.place for it in found.jars)
    if not places:
        return _absent(found)
    if len(places) > 1:
        return problem(
            SECTION,
            "jar",
            f"the connector is on the class path {len(places)} times",
            "Keep one of these jars, and restart the session: Spark may mix their classes.",
            places,
        )
    return ok(SECTION, "jar", f"the connector's jar is {places[0]}")


def _by_name(found: Installed) -> Finding:
    if found.has_connector is None:
        return unknown(SECTION, "jar", "the session does not show its class path")
    if found.has_connector:
        return ok(SECTION, "jar", "the session has the connector")
    return problem(SECTION, "jar", "the running session has no connector", found.advice)


def _absent(found: Installed) -> Finding:
    if found.is_session:
        return problem(
            SECTION, "jar", "the connector's jar is not in the running session", found.advice
        )
    if found.packaged:
        return ok(
            SECTION, "jar", "this package contains the jar, and with_kinesis adds it to a session"
        )
    return problem(
        SECTION,
        "jar",
        f"this package has no jar for Scala {found.scala or '2.13'}",
        "Install the wheel of a release. It contains the jars for Scala 2.12 and 2.13. In the "
        "repository, run make dist. Or set SPARK_KINESIS_JAR to the path of a jar.",
    )


def _wrong_jars(found: Installed) -> list[Finding]:
    findings = []
    for jar in found.jars or ():
        if jar.scala is not None and found.scala is not None and jar.scala != found.scala:
            findings.append(_other_scala(jar, found.scala))
        if jar.version is not None and jar.version != found.package:
            findings.append(_other_version(jar, found.package))
    return findings


def _other_scala(jar: Jar, scala: str) -> Finding:
    return problem(
        SECTION,
        "jar",
        f"{jar.place} is for Scala {jar.scala}, and Spark has Scala {scala}",
        f"Use the jar at spark_kinesis.jar_path({scala!r}).",
    )


def _other_version(jar: Jar, package: str) -> Finding:
    return problem(
        SECTION,
        "jar",
        f"{jar.place} is version {jar.version}, and the Python package is {package}",
        "Use the jar at spark_kinesis.jar_path(), or install the Python package of the same "
        f"version: pip install spark-kinesis=={jar.version}.",
    )
