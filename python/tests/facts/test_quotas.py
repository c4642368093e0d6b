"""How slowly a shard is read."""

from __future__ import annotations

import pytest

from spark_kinesis.tools.facts.records import pause_after


def test_calls_and_bytes_stay_within_the_share() -> None:
    assert (pause_after((), 1.0), pause_after((), 0.2)) == (0.2, 1.0)
    megabyte = {"Data": bytes(1_000_000)}
    assert pause_after([megabyte] * 4, 0.2) == pytest.approx(4_000_000 / (0.4 * 2**20))
