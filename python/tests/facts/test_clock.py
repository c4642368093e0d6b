"""The clock of the service."""

from __future__ import annotations

from datetime import datetime, timedelta, timezone
from email.utils import format_datetime

import pytest

from spark_kinesis.tools.facts.losses import ServiceClock

NOW = datetime(2026, 1, 2, 12, tzinfo=timezone.utc)


@pytest.mark.parametrize(
    ("skew", "expected"),
    [(0, 0), (1, 0), (-1, 0), (60, 60.5), (-3600, -3599.5)],
)
def test_a_clock_that_differs_is_corrected(skew: float, expected: float) -> None:
    clock = ServiceClock(lambda: NOW)
    clock.learn({"date": format_datetime(NOW + timedelta(seconds=skew), usegmt=True)})
    assert clock.now() - NOW == timedelta(seconds=expected)


def test_an_answer_without_a_time_changes_nothing() -> None:
    clock = ServiceClock(lambda: NOW)
    clock.learn({"date": format_datetime(NOW + timedelta(hours=1), usegmt=True)})
    for headers in ({}, {"Date": "soon"}):
        clock.learn(headers)
        assert clock.now() - NOW == timedelta(hours=1, milliseconds=500)


def test_a_small_difference_is_known() -> None:
    clock = ServiceClock(lambda: NOW)
    clock.learn({"Date": format_datetime(NOW + timedelta(seconds=1), usegmt=True)})
    assert (clock.ahead, clock.now()) == (timedelta(milliseconds=1500), NOW)
