"""The values of options that several commands take: times, durations, and sources of a query."""

from __future__ import annotations

import re
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
    """The duration that a text means.

    Args:
        text: a whole number of ``ms``, ``s``, ``m``, ``h`` or ``d``, such as ``10m``.

    Raises:
        ValueError: for another text.
    """
    found = _DURATION.fullmatch(text.strip().lower())
    if found is None:
        raise ValueError(f"{text!r} is not a duration such as 200ms, 30s, 10m, 2h or 1d")
    return timedelta(milliseconds=int(found[1]) * _MILLIS[found[2]])


def read_time(text: str, now: datetime) -> datetime:
    """The time that a text means.

    Args:
        text: ISO 8601 with ``Z`` or an offset, milliseconds since 1970, or a duration before now.
        now: the current time, with a time zone.

    Raises:
        ValueError: for another text, or a time without a time zone.
    """
    if _DURATION.fullmatch(text.strip().lower()):
        return now - read_duration(text)
    try:
        return read_instant(text)
    except ValueError as error:
        raise ValueError(f"{text!r} is not {FORMS}") from error


def read_instant(text: str) -> datetime:
    """The time that a text in a file means: it must not depend on when somebody reads it.

    Args:
        text: ISO 8601 with ``Z`` or an offset, or milliseconds since 1970.

    Raises:
        ValueError: for another text, or a time without a time zone.
    """
    words = text.strip()
    found = from_millis(int(words)) if _EPOCH_MILLIS.fullmatch(words) else from_iso(words)
    if found.tzinfo is None:
        raise ValueError(f"{text!r} has no time zone")
    return found


# `click.ParamType` is generic in some versions of click only, so `ParamType[datetime]` would end
# the import in the others.
class _Time(click.ParamType):  # type: ignore[type-arg]
    name = "time"

    def convert(self, value: Any, param: Any, ctx: Any) -> datetime:
        if isinstance(value, datetime):
            return value
        try:
            return read_time(str(value), utc_now())
        except ValueError as error:
            self.fail(str(error), param, ctx)


class _Duration(click.ParamType):  # type: ignore[type-arg]
    name = "duration"

    def convert(self, value: Any, param: Any, ctx: Any) -> timedelta:
        if isinstance(value, timedelta):
            return value
        try:
            return read_duration(str(value))
        except ValueError as error:
            self.fail(str(error), param, ctx)


class _Source(click.ParamType):  # type: ignore[type-arg]
    """A number, counted from 0, or a name. Spark allows these characters in a name."""

    name = "source"

    def convert(self, value: Any, param: Any, ctx: Any) -> str:
        text = str(value).strip()
        if re.fullmatch(r"\w+", text, re.ASCII) is None:
            self.fail(
                f"{text!r} is neither the number nor the name of a source: names have letters, "
                "digits and underscores",
                param,
                ctx,
            )
        return text


TIME, DURATION, SOURCE = _Time(), _Duration(), _Source()
