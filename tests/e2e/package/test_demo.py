"""The demo, as `make demo` runs it, with its output in a pipe."""

from __future__ import annotations

import re
import sys
from typing import TYPE_CHECKING

import pytest

from tests.e2e.support.programs import run

if TYPE_CHECKING:
    from pathlib import Path

pytestmark = [pytest.mark.spark4, pytest.mark.slow]

SECONDS = 300
LAST_LINE = re.compile(
    r"demo: written=([1-9]\d*) read=([1-9]\d*) lost=0 duplicated=0 out_of_order=0"
)


def test_the_demo_finds_no_lost_record(tmp_path: Path) -> None:
    ended = run([sys.executable, "-m", "spark_kinesis", "demo"], cwd=tmp_path, seconds=SECONDS)
    last = LAST_LINE.fullmatch(ended.stdout.splitlines()[-1])
    assert last is not None, ended.stdout[-2000:]
    assert last[1] == last[2]
    for event in ("orders was split", "orders were merged", "was killed", "starts again from its"):
        assert event in ended.stdout
    # The kill proves something only if the query had begun to read.
    *_, read = re.findall(r"read +(\d+)", ended.stdout.partition("was killed")[0])
    assert int(read) > 0
