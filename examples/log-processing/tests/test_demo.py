"""``make demo-logs``, without the build."""

from __future__ import annotations

import os
import re
import subprocess
import sys
from pathlib import Path

import pytest

from log_processing.demo.servers import BUILT

FOLDER = Path(__file__).resolve().parents[1]
BALANCE = re.compile(
    r"demo-logs: put=(?P<put>\d+) stored=(?P<stored>\d+) missing=0 twice=0 "
    r"errors=(?P<errors>\d+) published>=(?P<published>\d+) bad=(?P<bad>\d+) kept=(?P<kept>\d+)"
)
ERROR = re.compile(r"  \d{4}-\d\d-\d\dT\d\d:\d\d:\d\d\.\d{6}Z  \S+  .+")

pytestmark = [
    pytest.mark.slow,
    pytest.mark.skipif(sys.platform != "linux", reason="finds processes in /proc"),
]


@pytest.mark.long
def test_the_demo_ends_with_its_balance_five_errors_and_the_dashboard() -> None:
    assert BUILT.is_dir(), f"DynamoDB Local is not in {BUILT}: make demo-logs"
    path = os.pathsep.join(filter(None, [str(FOLDER), os.environ.get("PYTHONPATH")]))
    ended = subprocess.run(
        [sys.executable, "-m", "log_processing.demo"],
        env={**os.environ, "PYTHONPATH": path},
        capture_output=True,
        text=True,
        check=False,
    )
    assert ended.returncode == 0, ended.stdout + ended.stderr
    *story, balance, heading, first, second, third, fourth, fifth, dashboard = (
        ended.stdout.splitlines()
    )
    found = BALANCE.fullmatch(balance)
    assert found, balance
    counts = {name: int(number) for name, number in found.groupdict().items()}
    assert counts["stored"] == counts["put"] > 0
    assert counts["published"] == counts["errors"] > 0
    assert counts["kept"] == counts["bad"] > 0
    assert heading == "latest errors:"
    for error in (first, second, third, fourth, fifth):
        assert ERROR.fullmatch(error), error
    assert re.fullmatch(r"dashboard: http://127\.0\.0\.1:\d+/ \(until now\)", dashboard)
    assert sum("kill -9" in line for line in story) == 3
