"""The command line of the queries."""

from __future__ import annotations

import argparse
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, fields
from datetime import datetime, timedelta, timezone

from log_processing.options import add_options
from log_processing.settings import MAX_RETENTION_DAYS, TablePlace

from .span import HOUR_US, Span

MAX_HOURS = MAX_RETENTION_DAYS * 24
EXIT_CODES = "Exit codes: 0 success, also if there is no event; 1 failed; 2 wrong command line."
EPOCH = datetime(1970, 1, 1, tzinfo=timezone.utc)
MICROSECOND = timedelta(microseconds=1)


def microseconds(text: str) -> int:
    """A time of the command line, in microseconds since 1970.

    Raises:
        argparse.ArgumentTypeError: if it is not a time.
    """
    try:
        time = datetime.fromisoformat(text.replace("Z", "+00:00"))
    except ValueError as error:
        advice = "write it as 2026-11-23T07:15 or 2026-11-23T07:15:00+01:00"
        raise argparse.ArgumentTypeError(f"'{text}' is not a time: {advice}") from error
    utc = time if time.tzinfo else time.replace(tzinfo=timezone.utc)
    return (utc - EPOCH) // MICROSECOND


def positive(text: str) -> int:
    """A number of the command line.

    Raises:
        argparse.ArgumentTypeError: if it is not a whole number above 0.
    """
    if not text.isdecimal() or int(text) == 0:
        raise argparse.ArgumentTypeError(f"'{text}' is not a whole number above 0")
    return int(text)


def hours(text: str) -> int:
    """A number of hours, at most the longest time that the job keeps events."""
    number = positive(text)
    if number > MAX_HOURS:
        raise argparse.ArgumentTypeError(f"must be at most {MAX_HOURS}, not {text}")
    return number


def parser(environment: Mapping[str, str]) -> argparse.ArgumentParser:
    """The parser of the whole command line."""
    common, span = _common_options(environment), _span_options()
    whole = argparse.ArgumentParser(
        prog="log_processing.query", description="Query stored log events.", epilog=EXIT_CODES
    )
    queries = whole.add_subparsers(dest="query", required=True, metavar="latest|window|count")
    latest = queries.add_parser("latest", parents=[common], help="the latest events")
    latest.add_argument(
        "--number", type=positive, default=50, help="number of events (default: 50)"
    )
    latest.add_argument(
        "--hours", type=hours, default=24, help="how far to look back (default: 24 hours)"
    )
    window = queries.add_parser("window", parents=[common, span], help="all events of a time span")
    window.add_argument(
        "--limit", type=positive, default=1000, help="maximum number of events (default: 1000)"
    )
    queries.add_parser("count", parents=[common, span], help="events per minute and level")
    return whole


def _common_options(environment: Mapping[str, str]) -> argparse.ArgumentParser:
    common = argparse.ArgumentParser(add_help=False)
    common.add_argument("service", help="name of the service, in upper and lower case as stored")
    common.add_argument("--json", action="store_true", help="print JSON lines instead of a table")
    add_options(common, TablePlace, environment)
    return common


def _span_options() -> argparse.ArgumentParser:
    span = argparse.ArgumentParser(add_help=False)
    span.add_argument(
        "--from",
        dest="start",
        metavar="TIME",
        type=microseconds,
        help="first time, UTC if it has no offset (default: one hour before --to)",
    )
    span.add_argument(
        "--to", dest="end", metavar="TIME", type=microseconds, help="end, exclusive (default: now)"
    )
    return span


@dataclass(frozen=True)
class Arguments:
    """The command line, complete and checked."""

    place: TablePlace
    query: str
    service: str
    json: bool
    number: int
    hours: int
    limit: int
    span: Span


def read_arguments(
    arguments: Sequence[str], environment: Mapping[str, str], *, now: int
) -> Arguments:
    """Read the command line. A wrong one ends the program with a message that names the option."""
    whole = parser(environment)
    given = vars(whole.parse_args(arguments))
    end = now if given.get("end") is None else given["end"]
    start = end - HOUR_US if given.get("start") is None else given["start"]
    if start >= end:
        whole.error("--from must be before --to")
    return Arguments(
        place=TablePlace(**{field.name: given[field.name] for field in fields(TablePlace)}),
        query=given["query"],
        service=given["service"],
        json=given["json"],
        number=given.get("number", 0),
        hours=given.get("hours", 0),
        limit=given.get("limit", 0),
        span=Span(start, end),
    )
