"""Programs that the trial starts and ends."""

from __future__ import annotations

import os
import signal
import subprocess
import time
from contextlib import suppress
from pathlib import Path
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from collections.abc import Mapping, Sequence

SOURCES = Path(__file__).resolve().parents[2]  # of this application
_STOP_SECONDS = 40.0
_START_SECONDS = 60.0
_LAST_LINES = 25


class ProgramError(Exception):
    """A program did not start, or ended too early. The message has the end of its output."""


class Program:
    """A program with a process group of its own, so that Ctrl-C does not reach it.

    Its standard input stays open until ``stop``. Servers end when it ends, so that none is left
    even if the trial is killed.

    Args:
        name: name of the program in messages.
        words: command and arguments.
        log: file for its output.
        environment: variables in addition to those of this process. Python programs find this
            application.
    """

    def __init__(
        self,
        name: str,
        words: Sequence[str],
        log: Path,
        environment: Mapping[str, str] | None = None,
    ) -> None:
        """Start the program."""
        self.name, self.log = name, log
        path = os.pathsep.join(filter(None, [str(SOURCES), os.environ.get("PYTHONPATH")]))
        with log.open("ab") as output:
            self._process = subprocess.Popen(
                words,
                stdin=subprocess.PIPE,
                stdout=output,
                stderr=subprocess.STDOUT,
                env={**os.environ, "PYTHONPATH": path, **(environment or {})},
                start_new_session=True,
            )

    @property
    def pid(self) -> int:
        """Its process ID, which is also that of its process group."""
        return self._process.pid

    @property
    def status(self) -> int | None:
        """Its exit code; ``None`` while it runs."""
        return self._process.poll()

    def address(self, prefix: str) -> str:
        """Wait for a line of its output, such as ``listening on http://...``.

        Returns:
            What comes after the prefix.

        Raises:
            ProgramError: if it ends before, or after a minute.
        """
        deadline = time.monotonic() + _START_SECONDS
        while time.monotonic() < deadline:
            ended = self.status is not None
            lines = self.log.read_text(errors="replace").splitlines(keepends=True)
            found = [line for line in lines if line.startswith(prefix) and line.endswith("\n")]
            if found:
                return found[-1][len(prefix) :].strip()
            if ended:
                break
            time.sleep(0.05)
        raise ProgramError(f"{self.name} did not start.\n{self.last_lines()}")

    def check(self) -> None:
        """Check that it still runs.

        Raises:
            ProgramError: if it has ended.
        """
        if self.status is not None:
            text = f"{self.name} ended with exit code {self.status}.\n{self.last_lines()}"
            raise ProgramError(text)

    def kill_group(self) -> None:
        """Kill all processes of its group, and return when the first has ended."""
        with suppress(ProcessLookupError):  # all have ended
            os.killpg(self.pid, signal.SIGKILL)
        self._process.wait()

    def stop(self) -> int:
        """Ask it to end, and kill what is left of it. Returns its exit code."""
        if self._process.stdin is not None:
            self._process.stdin.close()
        if self.status is None:
            self._process.terminate()
        with suppress(subprocess.TimeoutExpired):  # killed with the rest of its group
            self._process.wait(_STOP_SECONDS)
        self.kill_group()
        return self._process.returncode

    def last_lines(self) -> str:
        """The end of its output."""
        lines = self.log.read_text(errors="replace").splitlines()
        return "\n".join(lines[-_LAST_LINES:])
