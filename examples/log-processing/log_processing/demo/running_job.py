"""The job in a process of its own, to be killed and started again."""

from __future__ import annotations

import os
import random
import signal
import sys
import time
from typing import TYPE_CHECKING

from . import processes
from .program import Program, ProgramError

if TYPE_CHECKING:
    from collections.abc import Mapping, Sequence
    from pathlib import Path

# A task whose Python worker was killed runs again, as it does on a cluster.
MASTER = "local[2,8]"
# In a run of a minute, the second compiler costs more than it gains.
JAVA_OPTIONS = "-XX:TieredStopAtLevel=1 -Xss16m"
SPARK = {
    "spark.ui.enabled": "false",
    "spark.sql.shuffle.partitions": "2",
    "spark.log.level": "WARN",
    "spark.driver.memory": "1g",
}
_END_SECONDS = 30.0


class RunningJob:
    """Starts the job with the same options each time.

    Args:
        options: options of the job by name.
        folder: folder for logs.
        chance: chooses what to kill.
    """

    def __init__(self, options: Mapping[str, str], folder: Path, chance: random.Random) -> None:
        """Do not start it yet."""
        self._words = [word for name, value in options.items() for word in (f"--{name}", value)]
        self._folder, self._chance = folder, chance
        self._program: Program | None = None
        self._starts = 0

    def start(self) -> None:
        """Start it."""
        self._starts += 1
        submit = [f"--master {MASTER}", *(f"--conf {it[0]}={it[1]}" for it in SPARK.items())]
        submit += [f'--driver-java-options "{JAVA_OPTIONS}"', "pyspark-shell"]
        environment = {
            "PYSPARK_SUBMIT_ARGS": " ".join(submit),
            "PYSPARK_PYTHON": sys.executable,
            "SPARK_LOCAL_IP": "127.0.0.1",
        }
        command = [sys.executable, "-m", "log_processing.job", *self._words]
        log = self._folder / f"job-{self._starts}.log"
        self._program = Program("the job", command, log, environment)

    def check(self) -> None:
        """Raise an error if it was started, and has ended by itself."""
        if self._program is not None:
            self._program.check()

    def kill_worker(self) -> int | None:
        """Kill a Python worker. Returns its process ID, or ``None`` if there is none now."""
        workers = processes.python_workers(self._processes())
        if not workers:
            return None
        worker = self._chance.choice(workers).pid
        try:
            os.kill(worker, signal.SIGKILL)
        except ProcessLookupError:
            return None  # it has just ended
        return worker

    def kill_driver(self) -> None:
        """Kill the driver: at random its Java process first, or both at once.

        Returns when all processes of the job have ended, also the Python workers, which no one
        kills.
        """
        program, self._program = self._running(), None
        left = below_of(program)
        java = [process.pid for process in left if processes.is_java(process)]
        if java and self._chance.random() < 0.5:  # noqa: PLR2004 a half
            os.kill(java[0], signal.SIGKILL)
        program.kill_group()
        _wait_for_end([process.pid for process in left])

    def stop(self) -> int:
        """Send SIGTERM. Returns the exit code after its last micro-batch."""
        program, self._program = self._running(), None
        return program.stop()

    def close(self) -> None:
        """Kill it, if it runs."""
        if self._program is not None:
            self.kill_driver()

    def _running(self) -> Program:
        if self._program is None:
            raise ProgramError("the job does not run")
        return self._program

    def _processes(self) -> Sequence[processes.Process]:
        return below_of(self._running())


def below_of(program: Program) -> list[processes.Process]:
    """All processes that a program has started."""
    return processes.below(program.pid, processes.running())


def _wait_for_end(pids: Sequence[int]) -> None:
    deadline = time.monotonic() + _END_SECONDS
    while left := set(pids) & set(processes.running()):
        if time.monotonic() > deadline:
            raise ProgramError(f"processes {sorted(left)} of the killed job have not ended")
        time.sleep(0.05)
