"""Looks at a running Spark session. Starts no job."""

from __future__ import annotations

import platform
import re
from typing import TYPE_CHECKING, Any

from spark_kinesis import KinesisJarMissingError, __version__
from spark_kinesis._session.missing import require_connector

from .facts import Installed, Jar, named_jar

if TYPE_CHECKING:
    from pyspark.sql import SparkSession

# Each jar with the connector has this class once.
_CLASS = "sparkkinesis/spark/KinesisTableProvider.class"
_CONTAINER = re.compile(r"^(?:jar:)?(.*?)!?/" + re.escape(_CLASS) + "$")
_SCALA = re.compile(r"\d+\.\d+")
_SEVERAL = "Multiple sources found"
_MAX_COMPLAINT = 300


def installed_in(spark: SparkSession) -> Installed:
    """The software of a session. A Spark Connect session shows less than a classic one."""
    jvm = None if "connect" in type(spark).__module__ else spark.sparkContext._jvm  # noqa: SLF001
    absence = _absence(spark)
    scala = None if jvm is None else _scala(jvm)
    return Installed(
        is_session=True,
        package=__version__,
        python=platform.python_version(),
        java=None if jvm is None else jvm.java.lang.System.getProperty("java.version"),
        spark=spark.version,
        scala=scala,
        jars=None if jvm is None else tuple(_jars(jvm)),
        has_connector=absence is None,
        advice=absence or "",
        rival=_rival(spark),
    )


def _absence(spark: SparkSession) -> str | None:
    """What to do, if the session has no connector."""
    try:
        require_connector(spark)
    except KinesisJarMissingError as error:
        return str(error)
    return None


def _scala(jvm: Any) -> str | None:
    found = _SCALA.search(str(jvm.scala.util.Properties.versionNumberString()))
    return found[0] if found else None


def _jars(jvm: Any) -> list[Jar]:
    """The jars in which the class loader of the driver finds the connector."""
    loader = jvm.org.apache.spark.util.Utils.getContextOrSparkClassLoader()
    resources = loader.getResources(_CLASS)
    places: list[str] = []
    while resources.hasMoreElements():
        found = _CONTAINER.match(resources.nextElement().toString())
        if found and found[1] not in places:
            places.append(found[1])
    return [named_jar(it) or Jar(place=it, scala=None, version=None) for it in places]


def _rival(spark: SparkSession) -> str | None:
    """Spark's complaint about the name ``kinesis``, if another connector has it, too."""
    try:
        _ = spark.read.format("kinesis").load().schema
    except Exception as error:  # noqa: BLE001 it is refused in any case: it has no options
        text = str(error)
        return text[:_MAX_COMPLAINT] if _SEVERAL in text else None
    return None
