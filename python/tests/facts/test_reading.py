"""The lag at a position."""

from __future__ import annotations

from dataclasses import replace
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
        behind=timedelta(seconds=behind),
        arrived=None if arrived is None else NOW - timedelta(seconds=arrived),
    )
    assert lag(position, found, NOW) == timedelta(seconds=age)


def test_without_a_read_the_time_of_the_checkpoint_is_the_limit() -> None:
    position = ShardOffset(progress=Progress.AFTER, sequence_number=7)
    assert lag(position, None, NOW) is None
    minute = timedelta(minutes=1)
    read = replace(position, complete_as_of=NOW - minute)
    assert lag(read, None, NOW) == minute
    assert lag(read, Probe(behind=2 * minute, arrived=None), NOW) == minute
    assert lag(ShardOffset(progress=Progress.FINISHED), None, NOW) == timedelta()
