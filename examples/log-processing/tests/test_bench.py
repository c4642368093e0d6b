"""The benchmark runs."""

from __future__ import annotations

import re
import subprocess
import sys
from pathlib import Path

import pytest

BENCH = Path(__file__).resolve().parents[1] / "bench.py"


@pytest.mark.parametrize(
    "options", [[], pytest.param(["--dynamodb-local"], marks=pytest.mark.slow)]
)
def test_the_benchmark_stores_all_events(options: list[str]) -> None:
    command = [sys.executable, str(BENCH), "--events", "1000", *options]
    printed = subprocess.run(command, check=True, capture_output=True, text=True).stdout
    assert re.match(r"1000 events of 200 bytes stored, 10 of them errors: \d+/s, \d+ per ", printed)
