"""Times and durations as text. Python 3.10 reads only a part of the texts."""

from __future__ import annotations

from datetime import datetime, timedelta, timezone

import pytest

from spark_kinesis._times import duration_text, from_iso, from_millis, instant, parsed, to_millis

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
    assert parsed(text) is None


def test_no_text_is_no_time() -> None:
    assert (parsed(None), parsed("2026-01-02T12:00:00Z")) == (None, NOON)


def test_times_have_the_form_of_the_connector() -> None:
    assert instant(NOON) == "2026-01-02T12:00:00Z"
    assert instant(NOON + timedelta(microseconds=7999)) == "2026-01-02T12:00:00.007Z"
    assert instant(NOON + timedelta(microseconds=999)) == "2026-01-02T12:00:00Z"


def test_milliseconds_are_exact() -> None:
    # As a floating-point number of seconds, 1.001 times 1000 is less than 1001.
    assert all(to_millis(from_millis(it)) == it for it in (0, 1001, 4_001, 1_767_355_200_123))
    assert from_millis(1_767_355_200_000) == NOON


@pytest.mark.parametrize(
    ("seconds", "text"),
    [
        (0, "0 s"),
        (0.4, "0 s"),
        (59.6, "1 min"),
        (61, "1 min 1 s"),
        (90_061, "1 d 1 h"),
        (-7200, "2 h"),
    ],
)
def test_durations_have_two_units(seconds: float, text: str) -> None:
    assert duration_text(timedelta(seconds=seconds)) == text
