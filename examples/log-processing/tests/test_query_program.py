"""``python -m log_processing.query`` as a process."""

from __future__ import annotations

import os
import subprocess
import sys
from pathlib import Path

from stored_events import SERVICE, SEVEN_US, item
from test_query_command import ENVIRONMENT, SPAN
from throttled_server import ThrottledServer

FOLDER = Path(__file__).resolve().parents[1]


def test_the_module_is_a_program() -> None:
    command = [sys.executable, "-m", "log_processing.query", "--help"]
    environment = {**os.environ, "PYTHONPATH": str(FOLDER)}
    ended = subprocess.run(
        command, env=environment, check=True, capture_output=True, text=True, cwd=FOLDER
    )
    assert "latest|window|count" in ended.stdout
    assert "Exit codes" in ended.stdout


def test_a_reader_that_ends_early_is_no_error() -> None:
    with ThrottledServer(failures=0, items=[item(SEVEN_US, it) for it in range(2_000)]) as server:
        command = [sys.executable, "-m", "log_processing.query", "window", SERVICE, *SPAN, "--json"]
        command += ["--limit", "100000", "--dynamodb-endpoint", server.url]
        environment = {**os.environ, **ENVIRONMENT, "PYTHONPATH": str(FOLDER)}
        with subprocess.Popen(
            command, env=environment, stdout=subprocess.PIPE, stderr=subprocess.PIPE, cwd=FOLDER
        ) as program:
            assert program.stdout is not None
            assert program.stderr is not None
            program.stdout.readline()
            program.stdout.close()
            assert program.stderr.read() == b""
    assert program.returncode == 0
