"""The time of an event: ISO 8601 text, or milliseconds since 1970."""

from __future__ import annotations

import re
from datetime import date

from log_processing.table.keys import is_in_calendar

_DAY_1970 = date(1970, 1, 1).toordinal()
_ISO = re.compile(
    r"(\d{4})-(\d\d)-(\d\d)[Tt ](\d\d):(\d\d)(?::(\d\d)(?:[.,](\d+))?)?"
    r" ?(?:[Zz]|([+-])(\d\d):?(\d\d)?)?",
    re.ASCII,
)
_LAST_HOUR, _LAST_MINUTE, _LEAP_SECOND = 23, 59, 60


def to_micros(value: object) -> int | None:
    """Microseconds since 1970, or ``None`` if the value is not a time.

    A text without an offset is in UTC. Digits after the microsecond are cut.
    """
    if isinstance(value, str):
        micros = _from_text(value)
    elif isinstance(value, int) and not isinstance(value, bool):
        micros = value * 1000
    else:
        return None
    return micros if micros is not None and is_in_calendar(micros) else None


def _from_text(text: str) -> int | None:
    match = _ISO.fullmatch(text)
    if match is None:
        return None
    year, month, day, hour, minute, second, fraction, sign, off_hour, off_minute = match.groups()
    hours, minutes, seconds = int(hour), int(minute), int(second or 0)
    offset_hours, offset_minutes = int(off_hour or 0), int(off_minute or 0)
    is_clock = max(hours, offset_hours) <= _LAST_HOUR and seconds <= _LEAP_SECOND
    if not is_clock or max(minutes, offset_minutes) > _LAST_MINUTE:
        return None
    try:
        days = date(int(year), int(month), int(day)).toordinal() - _DAY_1970
    except ValueError:
        return None
    offset = (offset_hours * 3600 + offset_minutes * 60) * (-1 if sign == "-" else 1)
    total = days * 86_400 + hours * 3600 + minutes * 60 + seconds - offset
    return total * 1_000_000 + int(((fraction or "") + "000000")[:6])
