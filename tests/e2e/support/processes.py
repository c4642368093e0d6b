"""The processes of a Spark application on this machine, from /proc."""

from __future__ import annotations

import os
import signal
from contextlib import suppress
from pathlib import Path

PROC = Path("/proc")


def executors(application: str) -> dict[str, int]:
    """The process ids of the executors of an application, by executor id."""
    found = {}
    for process in PROC.iterdir():
        words = command(process)
        is_executor = any(word.endswith("CoarseGrainedExecutorBackend") for word in words)
        if is_executor and application in words:
            found[words[words.index("--executor-id") + 1]] = int(process.name)
    return found


def of_session(session: int) -> dict[int, str]:
    """All processes of a process session, with the ends of their commands."""
    return {
        int(process.name): " ".join(command(process))[-200:]
        for process in PROC.iterdir()
        if process.name.isdigit() and session_of(process) == session
    }


def kill_session(session: int) -> None:
    """Kill all processes of a process session, without a word about those that just ended."""
    for pid in of_session(session):
        with suppress(ProcessLookupError):
            os.kill(pid, signal.SIGKILL)


def command(process: Path) -> list[str]:
    """The command of a process; empty if there is no such process."""
    try:
        return (process / "cmdline").read_bytes().decode(errors="replace").split("\0")
    except OSError:
        return []


def session_of(process: Path) -> int | None:
    """The process session of a process; ``None`` if it has ended."""
    try:
        fields = (process / "stat").read_text().rpartition(")")[2].split()
    except OSError:
        return None
    state, session = fields[0], int(fields[3])
    return None if state == "Z" else session
