"""Durations and times for people."""

from __future__ import annotations

from datetime import datetime, timedelta, timezone

_UNITS = (("d", 86_400), ("h", 3_600), ("min", 60), ("s", 1))


def text_of(duration: timedelta) -> str:
    """A duration in its two largest units, such as ``3 h 12 min``."""
    left = round(abs(duration).total_seconds())
    first = next((n for n, (_, size) in enumerate(_UNITS) if left >= size), len(_UNITS) - 1)
    parts: list[str] = []
    for unit, size in _UNITS[first : first + 2]:
        count, left = divmod(left, size)
        if count or not parts:
            parts.append(f"{count} {unit}")
    return " ".join(parts)


def time_text(time: datetime) -> str:
    """A time in UTC, such as ``2026-01-02 03:04:05 UTC``."""
    return f"{time.astimezone(timezone.utc):%Y-%m-%d %H:%M:%S} UTC"
