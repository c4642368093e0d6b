"""Times as text, which Python 3.10 reads only in part."""

from __future__ import annotations

from datetime import datetime, timedelta, timezone

import pytest

from spark_kinesis.checkpoint.times import from_iso

NOON = datetime(2026, 1, 2, 12, tzinfo=timezone.utc)


@pytest.mark.parametrize(
    ("fraction", "micros"),
    [
        ("", 0),
        (".1", 100_000),
        (".123", 123_000),
        (".123456", 123_456),
        (".123456789", 123_456),
        (",000001999", 1),
    ],
)
def test_digits_of_a_second(fraction: str, micros: int) -> None:
    expected = NOON + timedelta(microseconds=micros)
    assert from_iso(f"2026-01-02T12:00:00{fraction}Z") == expected
    assert from_iso(f"2026-01-02T14:00:00{fraction}+02:00") == expected


def test_a_time_without_seconds_or_zone() -> None:
    assert from_iso(" 2026-01-02T12:00z ") == NOON
    assert from_iso("2026-01-02T12:00") == NOON.replace(tzinfo=None)


@pytest.mark.parametrize("text", ["soon", "", "12.5"])
def test_another_text_is_refused(text: str) -> None:
    with pytest.raises(ValueError, match="Invalid isoformat"):
        from_iso(text)
