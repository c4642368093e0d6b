"""Times and durations: as text, and as milliseconds since 1970."""

from __future__ import annotations

import re
from datetime import datetime, timedelta, timezone

_EPOCH = datetime(1970, 1, 1, tzinfo=timezone.utc)
_MILLISECOND = timedelta(milliseconds=1)
_FRACTION = re.compile(r"(?<=:\d\d)[.,](\d+)")
_MICROS = 6
_UNITS = ((86_400, "d"), (3600, "h"), (60, "min"), (1, "s"))


def utc_now() -> datetime:
    """The time of this machine, in UTC."""
    return datetime.now(timezone.utc)


def from_iso(text: str) -> datetime:
    """A time from ISO 8601 text, such as Java's ``2026-01-02T03:04:05.123456789Z``.

    Python 3.10 does not read a ``Z``, and reads only three or six digits of a second.

    Raises:
        ValueError: for another text.
    """
    micros = _FRACTION.sub(lambda it: f".{it[1][:_MICROS]:0<{_MICROS}}", text.strip())
    return datetime.fromisoformat(re.sub("[zZ]$", "+00:00", micros))


def parsed(text: str | None) -> datetime | None:
    """A time as ``from_iso``. ``None`` if there is none, and for another text."""
    try:
        return None if text is None else from_iso(text)
    except ValueError:
        return None


def to_iso(time: datetime) -> str:
    """A time as ISO 8601 text in UTC, to the microsecond."""
    return time.astimezone(timezone.utc).replace(tzinfo=None).isoformat() + "Z"


def instant(time: datetime) -> str:
    """A time as the connector writes it: in UTC, with milliseconds if it has some."""
    utc = time.astimezone(timezone.utc).replace(tzinfo=None)
    millis = utc.microsecond // 1000
    return utc.isoformat(timespec="milliseconds" if millis else "seconds") + "Z"


def from_millis(millis: int) -> datetime:
    """A time from milliseconds since 1970, in UTC."""
    return _EPOCH + millis * _MILLISECOND


def to_millis(time: datetime) -> int:
    """A time in milliseconds since 1970, rounded down."""
    return (time - _EPOCH) // _MILLISECOND


def time_text(time: datetime) -> str:
    """A time for people, such as ``2026-01-02 03:04:05 UTC``."""
    return f"{time.astimezone(timezone.utc):%Y-%m-%d %H:%M:%S} UTC"


def duration_text(duration: timedelta) -> str:
    """A duration for people in its two largest units, such as ``3 h 12 min``, without a sign."""
    left = round(abs(duration).total_seconds())
    first = next((n for n, (size, _) in enumerate(_UNITS) if left >= size), len(_UNITS) - 1)
    parts: list[str] = []
    for size, unit in _UNITS[first : first + 2]:
        count, left = divmod(left, size)
        if count or not parts:
            parts.append(f"{count} {unit}")
    return " ".join(parts)
