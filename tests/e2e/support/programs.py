"""Runs programs in separate processes, because a JVM serves one kind of session."""

from __future__ import annotations

import json
import os
import subprocess
import sys
from contextlib import contextmanager
from pathlib import Path
from typing import TYPE_CHECKING, Any

from tests.e2e.support.processes import kill_session
from tests.e2e.support.streams import wait_for

if TYPE_CHECKING:
    from collections.abc import Iterator, Mapping

    from pyspark.sql import SparkSession

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


@contextmanager
def application(name: str, *arguments: str, folder: Path) -> Iterator[subprocess.Popen[bytes]]:
    """Run `apps/<name>.py` in a process session, which ends with it. Its last argument is a folder.

    If the test fails, prints the last words of the program.
    """
    log = folder / "log"
    with (
        log.open("ab") as out,
        subprocess.Popen(
            [sys.executable, str(FOLDER / f"{name}.py"), *arguments, str(folder)],
            cwd=folder,
            stdin=subprocess.DEVNULL,
            stdout=out,
            stderr=out,
            start_new_session=True,
        ) as process,
    ):
        try:
            yield process
        except BaseException:
            sys.stderr.write(log.read_text(errors="replace")[-6000:])
            raise
        finally:
            kill_session(process.pid)
            told_in(folder).unlink(missing_ok=True)


def told_in(folder: Path) -> Path:
    """The output of a program, when it runs."""
    return folder / "running.json"


def tell(spark: SparkSession, folder: Path) -> None:
    """Say that this program runs: its process, its driver's, and its application."""
    driver = spark._jvm.java.lang.ProcessHandle.current().pid()  # type: ignore[union-attr]
    report = {"pids": [os.getpid(), driver], "application": spark.sparkContext.applicationId}
    part = folder / "running.part"
    part.write_text(json.dumps(report))
    part.rename(told_in(folder))


def told(folder: Path) -> dict[str, Any]:
    """What the program has said, when it runs."""
    wait_for("it runs", told_in(folder).exists)
    return dict(json.loads(told_in(folder).read_text()))
