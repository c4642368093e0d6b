"""Runs suites of the Scala tests in one JVM, without sbt."""

from __future__ import annotations

import os
import subprocess
from dataclasses import dataclass
from pathlib import Path

from tests.campaign.rounds import ROOT
from tests.e2e.support.processes import kill_session

PROJECT = "integration"  # its class path has the tests of the connector and of the local Kinesis
OPTIONS = f"print {PROJECT}/Test/javaOptions"
CLASSES = f"export {PROJECT}/Test/fullClasspath"


@dataclass(frozen=True)
class ScalaTests:
    """The compiled tests, and the options of their JVM."""

    command: list[str]

    def run(
        self, suites: list[str], environment: dict[str, str], folder: Path, *more: str
    ) -> tuple[bool, str]:
        """Whether suites pass, and what they print.

        Args:
            suites: full names.
            environment: more variables.
            folder: for the log.
            more: arguments of ScalaTest's runner.
        """
        chosen = [word for suite in suites for word in ("-s", suite)]
        return ended([*self.command, *chosen, *more], environment, folder)


def compiled() -> ScalaTests:
    """Compile the tests. This takes minutes the first time."""
    sbt = [str(ROOT / "project" / "sbt"), OPTIONS, CLASSES]
    run = subprocess.run(sbt, check=True, capture_output=True, text=True, stdin=subprocess.DEVNULL)
    lines = run.stdout.splitlines()
    options = [line[2:] for line in lines if line.startswith("* ")]
    java = str(Path(os.environ["JAVA_HOME"], "bin", "java"))
    runner = ["-cp", lines[-1], "org.scalatest.tools.Runner", "-oDFW"]
    return ScalaTests([java, *options, *runner])


def ended(command: list[str], environment: dict[str, str], folder: Path) -> tuple[bool, str]:
    """Whether a command succeeds, and what it prints. It ends with this process."""
    log = folder / "log"
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
            is_good = process.wait() == 0
        finally:
            kill_session(process.pid)
            process.wait()
    return is_good, log.read_text(encoding="utf-8", errors="replace")
