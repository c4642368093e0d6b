"""Spark as it is installed here, found without starting it."""

from __future__ import annotations

import os
import re
from importlib.util import find_spec
from pathlib import Path

_SETTING = re.compile(r"\s*([^\s=:#!]+)\s*[=:\s]\s*(.*?)\s*")


def spark_homes() -> list[Path]:
    """Where Spark may be, in its own order: ``SPARK_HOME``, then pip's pyspark."""
    pyspark = find_spec("pyspark")
    packages = (pyspark and pyspark.submodule_search_locations) or ()
    return [Path(home) for home in (os.environ.get("SPARK_HOME"), *packages) if home]


def default_settings() -> dict[str, str]:
    """What ``spark-defaults.conf`` says; nothing where there is none."""
    folders = [os.environ.get("SPARK_CONF_DIR"), *(home / "conf" for home in spark_homes())]
    file = next((Path(folder) for folder in folders if folder), Path()) / "spark-defaults.conf"
    if not file.is_file():
        return {}
    lines = map(_SETTING.fullmatch, file.read_text(encoding="utf-8").splitlines())
    return {found[1]: found[2] for found in lines if found}
