"""The process of a local Kinesis, from its start to its end."""

from __future__ import annotations

import subprocess
import tempfile
from collections.abc import Sequence
from typing import IO, final

from ._simulator import ready_endpoint

_STOP_SECONDS = 10.0
_LAST_WORDS = 2000


@final
class ServerProcess:
    """It begins at once, and ends with this Python process at the latest.

    Args:
        words: what to run, as ``command`` says it.
        is_heard: whether it shares this process' standard error; otherwise what it says there is
            kept, for ``last_words``.
    """

    def __init__(self, words: Sequence[str], *, is_heard: bool) -> None:
        """Start it."""
        self._log: IO[str] | None = None
        if not is_heard:
            self._log = tempfile.TemporaryFile("w+", errors="replace")  # noqa: SIM115 until stop()
        self._process = subprocess.Popen(
            words,
            stdin=subprocess.PIPE,
            stdout=subprocess.PIPE,
            stderr=self._log,
            text=True,
            start_new_session=True,  # Ctrl-C is for this process, which then stops that one
        )

    def endpoint(self) -> str | None:
        """Where it listens, once it does; ``None`` if that takes too long, or it has ended."""
        return ready_endpoint(self._process)

    @property
    def status(self) -> int | None:
        """With what it ended; ``None`` while it runs."""
        return self._process.poll()

    def wait(self) -> int:
        """Block until it ends; with what."""
        return self._process.wait()

    def last_words(self) -> str:
        """The end of what was kept, until it is stopped."""
        if self._log is None:
            return ""
        self._log.seek(0)
        return self._log.read()[-_LAST_WORDS:].strip()

    def stop(self) -> None:
        """End it. Stopping twice is fine."""
        if self._process.stdin is not None:
            self._process.stdin.close()  # --stop-with-stdin: the end of its input is its end
        try:
            self._process.wait(_STOP_SECONDS)
        except subprocess.TimeoutExpired:
            self._process.kill()
            self._process.wait()
        if self._log is not None:
            self._log.close()
