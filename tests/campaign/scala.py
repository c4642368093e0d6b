"""Runs suites of the Scala tests in one JVM, without sbt."""

from __future__ import annotations

import os
import re
import subprocess
from contextlib import contextmanager
from dataclasses import dataclass
from functools import cache, partial
from pathlib import Path
from typing import TYPE_CHECKING

from tests.campaign.rounds import FOLDER, ROOT, ROUND_SECONDS, Outcome, Play, last_lines
from tests.e2e.support.processes import kill_session
from tests.spark_versions import java

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator

PROJECT = "integration"  # its class path has the tests of the connector and of the local Kinesis
OPTIONS = f"print {PROJECT}/Test/javaOptions"
CLASSES = f"export {PROJECT}/Test/fullClasspath"
JAZZER = "export jazzer/Runtime/dependencyClasspath"
IS_SMALL = os.environ.get("SPARK_KINESIS_TESTS") == "ci"  # each part takes a minute


@dataclass(frozen=True)
class ScalaTests:
    """The compiled tests, and the options of their JVM."""

    java: list[str]
    classes: str
    jazzer: str
    """The class path of Jazzer, which the tests do not have on theirs."""

    def run(
        self, suites: list[str], environment: dict[str, str], log: Path, *more: str
    ) -> tuple[bool, str]:
        """Whether suites pass, and what they print.

        Args:
            suites: full names.
            environment: more variables.
            log: a file.
            more: arguments of ScalaTest's runner.
        """
        runner = ["-cp", self.classes, "org.scalatest.tools.Runner", "-oDFW"]
        chosen = [word for suite in suites for word in ("-s", suite)]
        return ended([*self.java, *runner, *chosen, *more], environment, log)


@contextmanager
def compiling(play: Callable[[ScalaTests, int, Path], Outcome]) -> Iterator[Play]:
    """Compile the tests, once, for the rounds of a part."""
    yield partial(play, compiled())


@cache
def compiled() -> ScalaTests:
    """Compile the tests. This takes minutes the first time."""
    FOLDER.mkdir(parents=True, exist_ok=True)
    sbt = [str(ROOT / "project" / "sbt"), OPTIONS, CLASSES, JAZZER]
    is_good, output = ended(sbt, {}, FOLDER / "sbt.log")
    if not is_good:
        raise RuntimeError(f"the tests do not compile:\n{last_lines(output)}")
    lines = output.splitlines()
    options = [line[2:] for line in lines if line.startswith("* ")]
    *_, classes, jazzer = (line for line in lines if ".jar" in line)  # a warning may follow
    return ScalaTests([java(), *options], classes, jazzer)


def ended(command: list[str], environment: dict[str, str], log: Path) -> tuple[bool, str]:
    """Whether a command succeeds, and what it prints. It ends with this process."""
    with log.open("wb") as out:
        process = subprocess.Popen(
            command,
            cwd=ROOT,
            env={**os.environ, **environment},
            stdin=subprocess.DEVNULL,
            stdout=out,
            stderr=out,
            start_new_session=True,
        )
        try:
            is_good = process.wait(ROUND_SECONDS) == 0
        finally:
            kill_session(process.pid)
            process.wait()
    return is_good, log.read_text(encoding="utf-8", errors="replace")


def failures(output: str) -> str:
    """The names of the tests that failed, with their messages, or the end of the output."""
    found = re.findall(r"^.*\*\*\* FAILED.*$(?:\n^  .*$)*", output, re.MULTILINE)
    return last_lines("\n".join(found) or output)
