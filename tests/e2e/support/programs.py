"""Runs programs in separate processes, because a JVM serves one kind of session."""

from __future__ import annotations

import json
import subprocess
import sys
from pathlib import Path
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from collections.abc import Mapping

FOLDER = Path(__file__).resolve().parents[1] / "apps"


def run_app(
    name: str,
    *arguments: str,
    cwd: Path,
    seconds: float = 240,
    env: Mapping[str, str] | None = None,
) -> subprocess.CompletedProcess[str]:
    """Run `apps/<name>.py`, in the environment of this process or in another.

    Raises:
        AssertionError: with its last words, when it failed.
    """
    command = [sys.executable, str(FOLDER / f"{name}.py"), *arguments]
    return run(command, cwd=cwd, seconds=seconds, env=env)


def said_by(name: str, *arguments: str, cwd: Path, seconds: float = 500) -> Any:
    """The JSON in the last line of the output of `apps/<name>.py`."""
    return json.loads(run_app(name, *arguments, cwd=cwd, seconds=seconds).stdout.splitlines()[-1])


def run(
    command: list[str], *, cwd: Path, seconds: float = 240, env: Mapping[str, str] | None = None
) -> subprocess.CompletedProcess[str]:
    """Run a program.

    Raises:
        AssertionError: with its last words, when it failed.
    """
    ended = subprocess.run(
        command,
        cwd=cwd,
        env=env,
        timeout=seconds,
        capture_output=True,
        text=True,
        check=False,
    )
    words = f"{ended.stdout[-2000:]}\n{ended.stderr[-6000:]}"
    assert ended.returncode == 0, f"{command} ended with {ended.returncode}:\n{words}"
    return ended
