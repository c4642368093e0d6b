"""Times of events."""

from __future__ import annotations

from datetime import datetime, timedelta, timezone

import pytest
from hypothesis import given
from hypothesis import strategies as st

from log_processing.events.timestamps import to_micros

EPOCH = datetime(1970, 1, 1, tzinfo=timezone.utc)
# A day from the ends of the calendar, so that each offset stays within it.
times = st.datetimes(datetime(1, 1, 2), datetime(9999, 12, 30))  # noqa: DTZ001 they get a zone next
zones = st.integers(-23 * 60, 23 * 60).map(lambda minutes: timezone(timedelta(minutes=minutes)))


@given(times, zones)
def test_iso_8601_with_any_offset(time: datetime, zone: timezone) -> None:
    moment = time.replace(tzinfo=zone)
    micros = (moment - EPOCH) // timedelta(microseconds=1)
    assert to_micros(moment.isoformat()) == micros
    assert to_micros(moment.isoformat(" ")) == micros


@given(st.text() | st.floats() | st.none() | st.booleans() | st.binary())
def test_no_other_value_is_a_time(value: object) -> None:
    assert to_micros(value) is None


@pytest.mark.parametrize(
    ("text", "same"),
    [
        ("2026-11-23T07:15:09Z", "2026-11-23T07:15:09.000000+00:00"),
        ("2026-11-23T07:15", "2026-11-23T07:15:00Z"),
        ("2026-11-23t07:15:09.5z", "2026-11-23T07:15:09.500Z"),
        ("2026-11-23T07:15:09,123456789Z", "2026-11-23T07:15:09.123456Z"),
        ("2026-11-23T07:15:09", "2026-11-23T07:15:09Z"),
        ("2026-11-23T07:15:09+0130", "2026-11-23T05:45:09Z"),
        ("2026-11-23T07:15:09-05", "2026-11-23T12:15:09Z"),
        ("2026-12-31T23:59:60Z", "2027-01-01T00:00:00Z"),
    ],
)
def test_other_ways_to_write_a_time(text: str, same: str) -> None:
    assert to_micros(text) is not None
    assert to_micros(text) == to_micros(same)


@pytest.mark.parametrize(
    "text",
    [
        "2026-02-30T00:00:00Z",
        "2026-01-01T24:00:00Z",
        "2026-01-01T00:60:00Z",
        "2026-01-01T00:00:61Z",
        "2026-01-01T00:00:00+24:00",
        "2026-01-01",
        "0000-01-01T00:00:00Z",
        "0001-01-01T00:00:00+01:00",
        "٢٠٢٦-01-01T00:00:00Z",
        "1795000000000",
    ],
)
def test_what_only_looks_like_a_time(text: str) -> None:
    assert to_micros(text) is None


def test_a_number_is_milliseconds() -> None:
    assert to_micros(1_795_000_000_123) == 1_795_000_000_123_000
    assert to_micros(10**15) is None
