"""Runs a program of this folder in a process of its own: a JVM serves one kind of session."""

from __future__ import annotations

import subprocess
import sys
from pathlib import Path
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from collections.abc import Mapping

FOLDER = Path(__file__).resolve().parent


def run_app(
    name: str,
    *arguments: str,
    cwd: Path,
    seconds: float = 240,
    env: Mapping[str, str] | None = None,
) -> subprocess.CompletedProcess[str]:
    """Run `<name>.py` and return what it said; in this process' environment, or in another.

    Raises:
        AssertionError: with its last words, when it failed.
    """
    ended = subprocess.run(
        [sys.executable, str(FOLDER / f"{name}.py"), *arguments],
        cwd=cwd,
        env=env,
        timeout=seconds,
        capture_output=True,
        text=True,
        check=False,
    )
    assert ended.returncode == 0, f"{name} failed:\n{ended.stdout[-2000:]}\n{ended.stderr[-6000:]}"
    return ended
