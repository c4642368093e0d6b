"""Runs programs in processes of their own: a JVM serves one kind of session."""

from __future__ import annotations

import os
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
    return run([sys.executable, str(FOLDER / f"{name}.py"), *arguments], cwd=cwd, seconds=seconds)


def run(
    command: list[str], *, cwd: Path, seconds: float = 240, env: dict[str, str] | None = None
) -> subprocess.CompletedProcess[str]:
    """Run a program, with more in its environment than this one's, and return what it said.

    Raises:
        AssertionError: with its last words, when it failed.
    """
    ended = subprocess.run(
        command,
        cwd=cwd,
        env={**os.environ, **(env or {})},
        timeout=seconds,
        capture_output=True,
        text=True,
        check=False,
    )
    words = f"{ended.stdout[-2000:]}\n{ended.stderr[-6000:]}"
    assert ended.returncode == 0, f"{command} ended with {ended.returncode}:\n{words}"
    return ended
