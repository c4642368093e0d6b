"""Times as text, from Java, AWS and people."""

from __future__ import annotations

import re
from datetime import datetime

_FRACTION = re.compile(r"(?<=:\d\d)[.,](\d+)")
_MICROS = 6


def from_iso(text: str) -> datetime:
    """A time from ISO 8601 text, in all versions of Python.

    Python 3.10 does not read a ``Z``, and reads only three or six digits of a second. Java writes
    up to nine. Digits after the sixth are dropped.

    Args:
        text: such as ``2026-01-02T03:04:05.123456789Z``. The result has a time zone if the text has
            one.

    Raises:
        ValueError: for another text.
    """
    micros = _FRACTION.sub(lambda it: f".{it[1][:_MICROS]:0<{_MICROS}}", text.strip())
    return datetime.fromisoformat(re.sub("[zZ]$", "+00:00", micros))
