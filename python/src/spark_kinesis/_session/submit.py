"""The arguments that pyspark passes to spark-submit when it starts a JVM."""

from __future__ import annotations

import os
import shlex
from itertools import pairwise
from pathlib import PurePath

JARS, PACKAGES = "spark.jars", "spark.jars.packages"
_OPTIONS = {JARS: "--jars", PACKAGES: "--packages"}
_VARIABLE = "PYSPARK_SUBMIT_ARGS"


def submitted(setting: str) -> str | None:
    """The jars or packages in ``PYSPARK_SUBMIT_ARGS``, by their own option or by ``--conf``."""
    pairs = _pairs(_words())
    by_option = [value for name, value in pairs if name == _OPTIONS[setting]]
    prefix = f"{setting}="
    by_conf = [
        value.removeprefix(prefix)
        for name, value in pairs
        if name in ("--conf", "-c") and value.startswith(prefix)
    ]
    return next(reversed(by_conf + by_option), None)


def submit_jars(jars: str) -> None:
    """Set ``--jars`` in ``PYSPARK_SUBMIT_ARGS``, and leave the other arguments as they are.

    Programs that this process starts inherit the environment, and so the jars.
    """
    words, others, skip = _words(), [], False
    option = _OPTIONS[JARS]
    for word in words:
        if not skip and word != option and not word.startswith(f"{option}="):
            others.append(word)
        skip = word == option
    os.environ[_VARIABLE] = shlex.join([option, jars, *others])


def added(jars: str, jar: str) -> str:
    """A comma-separated list with one more jar.

    Spark gives jars to executors by file name, one jar per name. A jar of that name stays.
    """
    listed = [entry.strip() for entry in jars.split(",") if entry.strip()]
    names = [PurePath(entry).name for entry in listed]
    return ",".join(listed if PurePath(jar).name in names else [*listed, jar])


def _words() -> list[str]:
    return shlex.split(os.environ.get(_VARIABLE, "pyspark-shell"))


def _pairs(words: list[str]) -> list[tuple[str, str]]:
    """Every ``--name value`` and ``--name=value``."""
    joined = [word.partition("=") for word in words if word.startswith("--")]
    apart = [pair for pair in pairwise(words) if pair[0].startswith("-")]
    return [(name, value) for name, equals, value in joined if equals] + apart
