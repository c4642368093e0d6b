"""Runs a program of this folder in a process of its own: a JVM serves one kind of session."""

from __future__ import annotations

import subprocess
import sys
from pathlib import Path

FOLDER = Path(__file__).resolve().parent


def run_app(
    name: str, *arguments: str, cwd: Path, seconds: float = 240
) -> subprocess.CompletedProcess[str]:
    """Run `<name>.py` and return what it said.

    Raises:
        AssertionError: with its last words, when it failed.
    """
    ended = subprocess.run(
        [sys.executable, str(FOLDER / f"{name}.py"), *arguments],
        cwd=cwd,
        timeout=seconds,
        capture_output=True,
        text=True,
        check=False,
    )
    assert ended.returncode == 0, f"{name} failed:\n{ended.stdout[-2000:]}\n{ended.stderr[-6000:]}"
    return ended
