"""The values of options that several commands take: times, durations, and sources of a query."""

from __future__ import annotations

import re
from collections.abc import Callable
from datetime import datetime, timedelta
from typing import Any

import click

from spark_kinesis._times import from_iso, from_millis, utc_now

FORMS = (
    "a time with a time zone such as 2026-11-20T08:00Z, milliseconds since 1970, or how long ago, "
    "such as 10m"
)
_DURATION = re.compile(r"(\d{1,6})(ms|[smhd])")
_MILLIS = {"ms": 1, "s": 1000, "m": 60_000, "h": 3_600_000, "d": 86_400_000}
# Shorter numbers are no milliseconds of a year that Kinesis has seen, but typing errors.
_EPOCH_MILLIS = re.compile(r"\d{12,14}")


def read_duration(text: str) -> timedelta:
    """The duration that a text means: a whole number of ``ms``, ``s``, ``m``, ``h`` or ``d``."""
    found = _DURATION.fullmatch(text.strip().lower())
    if found is None:
        raise ValueError(f"{text!r} is not a duration such as 200ms, 30s, 10m, 2h or 1d")
    return timedelta(milliseconds=int(found[1]) * _MILLIS[found[2]])


def read_time(text: str, now: datetime) -> datetime:
    """The time that a text means: one of the ``FORMS``."""
    words = text.strip()
    if _DURATION.fullmatch(words.lower()):
        return now - read_duration(words)
    try:
        found = from_millis(int(words)) if _EPOCH_MILLIS.fullmatch(words) else from_iso(words)
    except ValueError:
        found = None
    if found is None or found.tzinfo is None:
        raise ValueError(f"{text!r} is not {FORMS}")
    return found


def _source(text: str) -> str:
    """A number, counted from 0, or a name. Spark allows these characters in a name."""
    found = text.strip()
    if re.fullmatch(r"\w+", found, re.ASCII) is None:
        raise ValueError(
            f"{found!r} is neither the number nor the name of a source: names have letters, "
            "digits and underscores"
        )
    return found


# `click.ParamType` is generic in some versions of click only, so `ParamType[datetime]` would end
# the import in the others.
class Value(click.ParamType):  # type: ignore[type-arg]
    """The type of an option whose text a function reads. Its ``ValueError`` is for the user."""

    def __init__(self, name: str, read: Callable[[str], Any]) -> None:
        """The name stands for the value in the help."""
        self.name, self._read = name, read

    def convert(self, value: Any, param: Any, ctx: Any) -> Any:
        """The value. It may be one already, such as a default."""
        if not isinstance(value, str):
            return value
        try:
            return self._read(value)
        except (ValueError, OverflowError) as error:
            self.fail(str(error), param, ctx)


TIME = Value("time", lambda text: read_time(text, utc_now()))
DURATION = Value("duration", read_duration)
SOURCE = Value("source", _source)
