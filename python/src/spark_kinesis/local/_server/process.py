"""The process of a local Kinesis, from its start to its end."""

from __future__ import annotations

import queue
import subprocess
import tempfile
import threading
from collections.abc import Sequence
from typing import IO, final

READY = "listening on "
_START_SECONDS = 60.0
_STOP_SECONDS = 10.0
_LAST_WORDS = 2000


@final
class ServerProcess:
    """A process that starts at once, and ends with this Python process at the latest.

    Args:
        words: the command and its arguments.
        shares_stderr: whether it writes to the standard error of this process. If not, its error
            output is stored for ``last_words``.
    """

    def __init__(self, words: Sequence[str], *, shares_stderr: bool) -> None:
        """Start the process."""
        self._log: IO[str] | None = None
        if not shares_stderr:
            self._log = tempfile.TemporaryFile("w+", errors="replace")  # noqa: SIM115 until stop()
        self._process = subprocess.Popen(
            words,
            stdin=subprocess.PIPE,
            stdout=subprocess.PIPE,
            stderr=self._log,
            text=True,
            start_new_session=True,  # Ctrl-C reaches this process only, which then stops that one
        )

    def endpoint(self) -> str | None:
        """Wait for its address. ``None`` if that takes longer than 60 s, or the process ended."""
        return ready_endpoint(self._process)

    @property
    def status(self) -> int | None:
        """The exit code of the process; ``None`` while it runs."""
        return self._process.poll()

    def wait(self) -> int:
        """Wait until it ends. Returns its exit code."""
        return self._process.wait()

    def last_words(self) -> str:
        """The end of its error output, until ``stop()``."""
        if self._log is None:
            return ""
        self._log.seek(0)
        return self._log.read()[-_LAST_WORDS:].strip()

    def stop(self) -> None:
        """End the process. It may have ended already."""
        if self._process.stdin is not None:
            self._process.stdin.close()  # with --stop-with-stdin, this makes it end
        try:
            self._process.wait(_STOP_SECONDS)
        except subprocess.TimeoutExpired:
            self._process.kill()
            self._process.wait()
        if self._log is not None:
            self._log.close()


def ready_endpoint(process: subprocess.Popen[str]) -> str | None:
    """The address in the output of a process; ``None`` if it does not appear within 60 s."""
    lines: queue.SimpleQueue[str | None] = queue.SimpleQueue()
    threading.Thread(target=_listen, args=(process.stdout, lines), daemon=True).start()
    try:
        return lines.get(timeout=_START_SECONDS)
    except queue.Empty:
        return None


def _listen(output: IO[str] | None, lines: queue.SimpleQueue[str | None]) -> None:
    """Pass on the address, and read the rest, so that the process never blocks on a full pipe."""
    if output is not None:
        with output:
            for line in output:
                if line.startswith(READY):
                    lines.put(line.removeprefix(READY).strip())
    lines.put(None)
