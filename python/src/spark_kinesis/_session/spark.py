"""The installed Spark, found without starting it."""

from __future__ import annotations

import os
import re
from importlib.util import find_spec
from pathlib import Path

_SETTING = re.compile(r"\s*([^\s=:#!]+)\s*[=:\s]\s*(.*?)\s*")
_SCALA = re.compile(r"scala-library-(2\.\d+)\.")


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


def _home_of(package: Path) -> Path:
    """A distribution has the package in ``python/pyspark``; pip's package carries the jars."""
    distribution = package.parent.parent
    return distribution if (distribution / "jars").is_dir() else package
