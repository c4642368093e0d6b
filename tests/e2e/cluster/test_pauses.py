"""A driver that does not run for a while: executors keep their shards and their pages."""

from __future__ import annotations

from typing import TYPE_CHECKING

from tests.e2e.support.cluster import cluster_on_linux
from tests.e2e.support.programs import said_by
from tests.e2e.support.streams import FAN_OUT

if TYPE_CHECKING:
    from pathlib import Path

pytestmark = cluster_on_linux("finds processes in /proc")


def test_a_suspended_driver_takes_no_shard_and_reads_no_range_again(
    simulator: str, tmp_path: Path
) -> None:
    said = said_by("suspended", simulator, str(tmp_path), FAN_OUT, cwd=tmp_path)
    assert said == {
        "reread": 0,
        "moved": 0,
        "lost": 0,
        "duplicated": 0,
        "out_of_order": 0,
        "foreign": 0,
    }
