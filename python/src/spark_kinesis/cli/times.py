"""Times that people write: ``2026-11-20T08:00Z``, with another offset, or ``10m`` ago."""

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
# Shorter numbers are typing errors.
_EPOCH_MILLIS = re.compile(r"\d{12,14}")
_DURATION = re.compile(r"(\d{1,6})([smhd])")
_SECONDS = {"s": 1, "m": 60, "h": 3600, "d": 86_400}


def read_time(text: str, now: datetime) -> datetime:
    """The time that a text means.

    Args:
        text: ISO 8601 with ``Z`` or an offset, milliseconds since 1970, or a duration of ``s``,
            ``m``, ``h`` or ``d``.
        now: the current time, with a time zone.

    Raises:
        ValueError: for another text, or a time without a time zone.
    """
    ago = _DURATION.fullmatch(text.strip().lower())
    if ago:
        return now - timedelta(seconds=int(ago[1]) * _SECONDS[ago[2]])
    try:
        is_millis = _EPOCH_MILLIS.fullmatch(text.strip())
        time = from_millis(int(text)) if is_millis else from_iso(text)
    except ValueError:
        time = datetime.min  # noqa: DTZ901 has no time zone, and is refused below
    if time.tzinfo is None:
        raise ValueError(f"{text!r} is not {FORMS}")
    return time


class TimeType(click.ParamType):  # type: ignore[type-arg] # not generic before click 8.4
    """The type of options that are times."""

    name = "time"

    def convert(
        self, value: Any, param: click.Parameter | None, ctx: click.Context | None
    ) -> datetime:
        """The time. Another text ends the command."""
        if isinstance(value, datetime):
            return value
        try:
            return read_time(str(value), utc_now())
        except ValueError as error:
            self.fail(str(error), param, ctx)


TIME = TimeType()
