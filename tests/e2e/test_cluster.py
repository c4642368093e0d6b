"""Executors in processes of their own, one killed in mid-run."""

from __future__ import annotations

import json
import sys
from typing import TYPE_CHECKING

import pytest
from apps import run_app

if TYPE_CHECKING:
    from pathlib import Path


@pytest.mark.skipif(sys.platform != "linux", reason="finds the executors in /proc")
def test_a_killed_executor_loses_nothing(simulator: str, tmp_path: Path) -> None:
    checkpoint = str(tmp_path / "checkpoint")
    ended = run_app("app_cluster", simulator, checkpoint, cwd=tmp_path, seconds=500)
    said = json.loads(ended.stdout.splitlines()[-1])
    assert said.pop("killed") > 0
    assert said == {"lost": 0, "duplicated": 0, "out_of_order": 0, "foreign": 0}
