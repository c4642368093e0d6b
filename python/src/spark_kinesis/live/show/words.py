"""Figures as text, the same in all renderings."""

from __future__ import annotations

from datetime import datetime, timedelta, timezone

from spark_kinesis._times import duration_text, time_text

UNKNOWN = "?"
_TENTHS_BELOW = 10
_THOUSAND = 1000
_HALF_DAY = timedelta(hours=12)


def duration(value: timedelta | None) -> str:
    """A duration in its two largest units, such as ``2 h 5 min``. Below a second in ms."""
    if value is None:
        return UNKNOWN
    millis = round(value.total_seconds() * _THOUSAND)
    return f"{millis} ms" if 0 < millis < _THOUSAND else duration_text(value)


def count(value: int | None, *, is_counted: bool = True) -> str:
    """A number of records. An estimate begins with ``~``."""
    if value is None:
        return UNKNOWN
    return f"{value:,}" if is_counted else f"~{value:,}"


def per_second(value: float | None) -> str:
    """A rate."""
    if value is None:
        return UNKNOWN
    return f"{value:.1f}/s" if 0 < value < _TENTHS_BELOW else f"{value:,.0f}/s"


def speed(value: float | None) -> str:
    """A speed, such as ``1.20x``."""
    return UNKNOWN if value is None else f"{value:.2f}x"


def moment(value: datetime | None) -> str:
    """A time in UTC."""
    return UNKNOWN if value is None else time_text(value)


def soon(value: datetime, now: datetime) -> str:
    """A time in UTC: without the date if it is within 12 hours, otherwise without the seconds."""
    form = "%H:%M:%S" if abs(value - now) < _HALF_DAY else "%Y-%m-%d %H:%M"
    return value.astimezone(timezone.utc).strftime(form)


def share(value: float) -> str:
    """A part of a quota in percent."""
    return f"{value:.1%}".replace("%", " %")


def size(value: int) -> str:
    """Bytes, such as ``12.5 MB``."""
    amount, units = float(value), ["B", "kB", "MB", "GB"]
    while amount >= _THOUSAND and len(units) > 1:
        amount, units = amount / _THOUSAND, units[1:]
    return f"{amount:.1f} {units[0]}" if units[0] != "B" else f"{value} B"
