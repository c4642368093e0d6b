"""Times and durations on the command line."""

from __future__ import annotations

from datetime import datetime, timedelta, timezone

import pytest

from spark_kinesis.tools.cli import read_duration, read_time

NOW = datetime(2026, 11, 23, 12, tzinfo=timezone.utc)


@pytest.mark.parametrize(
    ("text", "time"),
    [
        ("2026-11-20T08:00Z", datetime(2026, 11, 20, 8, tzinfo=timezone.utc)),
        ("2026-11-20T08:00:01.5z", datetime(2026, 11, 20, 8, 0, 1, 500_000, timezone.utc)),
        ("2026-11-20T08:00+02:00", datetime(2026, 11, 20, 6, tzinfo=timezone.utc)),
        ("10m", NOW - timedelta(minutes=10)),
        ("2D", NOW - timedelta(days=2)),
        ("500ms", NOW - timedelta(milliseconds=500)),
        ("1795435200000", NOW),
    ],
)
def test_a_time_is_read(text: str, time: datetime) -> None:
    assert read_time(text, NOW) == time


@pytest.mark.parametrize(
    "text", ["2026-11-20", "2026-11-20T08:00", "yesterday", "", "10", "-5m", "20261123"]
)
def test_another_text_is_refused(text: str) -> None:
    with pytest.raises(ValueError, match="is not a time with a time zone such as"):
        read_time(text, NOW)


@pytest.mark.parametrize(
    ("text", "duration"),
    [("200ms", timedelta(milliseconds=200)), ("1M", timedelta(minutes=1)), ("0s", timedelta())],
)
def test_a_duration_is_read(text: str, duration: timedelta) -> None:
    assert read_duration(text) == duration


@pytest.mark.parametrize("text", ["", "10", "1.5s", "-1s", "1 w"])
def test_another_duration_is_refused(text: str) -> None:
    with pytest.raises(ValueError, match="is not a duration such as 200ms, 30s"):
        read_duration(text)
