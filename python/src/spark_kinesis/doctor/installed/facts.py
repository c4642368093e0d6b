"""What is installed, as values."""

from __future__ import annotations

import re
from dataclasses import dataclass

_JAR_NAME = re.compile(r"spark-kinesis_(\d+\.\d+)-(.+)\.jar$")


@dataclass(frozen=True, kw_only=True)
class Jar:
    """A jar that contains the connector.

    Attributes:
        place: path or URL.
        scala: Scala version for which it was built. ``None`` if its name does not tell.
        version: version of the connector. ``None`` if neither manifest nor name tells.
    """

    place: str
    scala: str | None
    version: str | None


@dataclass(frozen=True, kw_only=True)
class Installed:
    """The software that a query would use.

    Attributes:
        is_session: whether the facts are those of a running Spark session. Otherwise they are
            those of a session that starts in this environment.
        package: version of the Python package ``spark-kinesis``.
        python: version of Python.
        java: version of Java. ``None`` if there is none, or if the session does not tell.
        spark: version of Spark. ``None`` if none is installed.
        scala: Scala version of that Spark, such as ``2.13``.
        jars: jars with the connector on the class path. ``None`` if unknown.
        packaged: whether this package contains the jar for that Scala version.
        has_connector: whether Spark finds the connector by its name. ``None`` if nobody asked.
        advice: how to add the jar in this environment.
        rival: Spark's complaint that several data sources have the name ``kinesis``, or ``None``.
    """

    is_session: bool
    package: str
    python: str
    java: str | None
    spark: str | None
    scala: str | None
    jars: tuple[Jar, ...] | None
    packaged: bool = True
    has_connector: bool | None = None
    advice: str = ""
    rival: str | None = None


def named_jar(place: str, version: str | None = None) -> Jar | None:
    """The jar from its path or URL. ``None`` if the name is not one of the connector's jars."""
    found = _JAR_NAME.search(place)
    return Jar(place=place, scala=found[1], version=version or found[2]) if found else None


def numbers(version: str) -> tuple[int, ...]:
    """The leading numbers of a version: ``4.0.5-amzn-1`` is (4, 0, 5)."""
    leading = re.match(r"\d+(\.\d+)*", version)
    return tuple(map(int, leading[0].split("."))) if leading else ()
