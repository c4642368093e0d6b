"""The clock of the service."""

from __future__ import annotations

from datetime import timedelta
from email.utils import format_datetime

import pytest

from spark_kinesis.live.clock import ServiceClock

from .given import NOW


@pytest.mark.parametrize(
    ("skew", "expected"),
    [(0, 0), (1, 0), (-1, 0), (60, 60.5), (-3600, -3599.5)],
)
def test_a_clock_that_differs_is_corrected(skew: float, expected: float) -> None:
    clock = ServiceClock(lambda: NOW)
    clock.note({"date": format_datetime(NOW + timedelta(seconds=skew), usegmt=True)})
    assert clock.now() - NOW == timedelta(seconds=expected)


def test_an_answer_without_a_time_changes_nothing() -> None:
    clock = ServiceClock(lambda: NOW)
    clock.note({"date": format_datetime(NOW + timedelta(hours=1), usegmt=True)})
    clock.note({})
    assert clock.now() - NOW > timedelta(minutes=59)
