"""A replay of a query in real-time mode."""

from __future__ import annotations

from collections import Counter
from datetime import timedelta
from functools import partial
from typing import TYPE_CHECKING, Any

import pytest

from spark_kinesis import stop_gracefully
from tests.e2e.source.test_real_time import copying, live, wait_copied
from tests.e2e.source.test_replay import logged, rows
from tests.e2e.support.real_time import needs_real_time
from tests.e2e.support.streams import Written, wait_for

if TYPE_CHECKING:
    from pathlib import Path

    from pyspark.sql import SparkSession

__all__ = ["live"]  # a fixture

pytestmark = [
    needs_real_time,
    pytest.mark.parametrize("kinesis", ["simulator"], indirect=True),
]


def has_logged(checkpoint: Path, batches: int) -> bool:
    """Whether this number of batches has ended."""
    return len(logged(checkpoint)) >= batches


def test_the_batches_that_have_ended_hold_each_row_once(
    live: SparkSession,
    new_stream: Any,
    checkpoint: Path,
) -> None:
    source, target = new_stream(2), new_stream(1)
    with copying(live, source, target, checkpoint, duration="5 seconds") as query:
        for batches in (1, 3):
            source.put(100)
            source.split()
            source.put(100)
            wait_copied(query, source, target)
            wait_for("a batch ends", partial(has_logged, checkpoint, batches))
        assert stop_gracefully(query, timedelta(seconds=60))
    again = rows(source.source().replay(live, checkpoint=checkpoint, batches=logged(checkpoint)))
    assert Counter(Written(row.key, row.n) for row in again) == Counter(source.written)
    assert len({row.batch for row in again}) > 1
