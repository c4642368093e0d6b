"""The lag at a position."""

from __future__ import annotations

from datetime import datetime, timedelta, timezone

import pytest

from spark_kinesis._offsets import Progress, ShardOffset
from spark_kinesis.tools.facts.lags import Probe, lag

NOW = datetime(2026, 1, 2, 12, tzinfo=timezone.utc)


@pytest.mark.parametrize(
    ("arrived", "behind", "age"),
    [
        (None, 0, 0),
        (None, 5, 5),
        (100, 0, 100),  # the only unread record, which the probe itself read
        (100, 90, 100),
        (-1, 0, 0),  # the time of the service is rounded down
    ],
)
def test_the_lag_is_the_age_of_the_first_unread_record(
    arrived: float | None, behind: float, age: float
) -> None:
    position = ShardOffset(progress=Progress.AFTER, sequence_number=7)
    found = Probe(
        at=NOW,
        position=position,
        behind=timedelta(seconds=behind),
        arrived=None if arrived is None else NOW - timedelta(seconds=arrived),
        sequence_number=None,
        is_end=False,
    )
    assert lag(position, [found], NOW) == timedelta(seconds=age)
