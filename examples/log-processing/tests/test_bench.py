"""The benchmark runs."""

from __future__ import annotations

import re
import subprocess
import sys
from pathlib import Path

BENCH = Path(__file__).resolve().parents[1] / "bench.py"


def test_the_benchmark_stores_all_events() -> None:
    command = [sys.executable, str(BENCH), "--events", "1000"]
    printed = subprocess.run(command, check=True, capture_output=True, text=True).stdout
    assert re.match(r"1000 events of 200 bytes stored, 10 published: \d+/s, \d+ per ", printed)
