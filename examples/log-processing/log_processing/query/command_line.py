"""Runs one query and prints its answer."""

from __future__ import annotations

import os
import sys
import time
from collections.abc import Iterator, Mapping, Sequence
from concurrent.futures import ThreadPoolExecutor
from contextlib import contextmanager
from itertools import islice
from typing import TYPE_CHECKING

from botocore.exceptions import BotoCoreError, ClientError

from log_processing.delivery.clients import client
from log_processing.table import keys

from .arguments import Arguments, read_arguments
from .counting import by_minute
from .failures import explain
from .latest import latest
from .output import print_counts, print_events
from .stored import stored_event
from .table import LogTable
from .window import count, window

if TYPE_CHECKING:
    from .span import Span

SUCCESS, FAILED = 0, 1
PARALLEL_REQUESTS = keys.BUCKETS
# The AWS SDK waits longer after each attempt. All attempts together take at most half a minute.
ATTEMPTS = 6


def main(
    arguments: Sequence[str] = tuple(sys.argv[1:]), environment: Mapping[str, str] = os.environ
) -> int:
    """Run one query and return the exit code."""
    now = time.time_ns() // 1000
    given = read_arguments(arguments, environment, now=now)
    answer = {"latest": answer_latest, "window": answer_window, "count": answer_count}
    try:
        with open_table(given) as table:
            answer[given.query](table, given, now)
    except (BotoCoreError, ClientError) as error:
        note(explain(error, table=given.place.table))
        return FAILED
    except BrokenPipeError:  # the reader of the output, such as `head`, has ended
        os.dup2(os.open(os.devnull, os.O_WRONLY), sys.stdout.fileno())
    return SUCCESS


@contextmanager
def open_table(given: Arguments) -> Iterator[LogTable]:
    """The table, with threads for its requests."""
    place = given.place
    dynamodb = client(
        "dynamodb", place.region, place.dynamodb_endpoint, PARALLEL_REQUESTS, ATTEMPTS
    )
    threads = ThreadPoolExecutor(PARALLEL_REQUESTS, thread_name_prefix="bucket")
    try:
        yield LogTable(dynamodb, place.table, threads)
    finally:
        threads.shutdown(cancel_futures=True)


def answer_latest(table: LogTable, given: Arguments, now: int) -> None:
    """Print the latest events, and how far the search went if there are too few."""
    found = latest(table, given.service, wanted=given.number, hours=given.hours, now=now)
    number = print_events(map(stored_event, found.items), as_json=given.json)
    advice = f"Use --hours to search before {start_of(found.searched)}"
    if number == 0:
        note_nothing(given.service, found.searched, advice)
    elif number < given.number:
        note(f"Found {number} of {given.number} events. {advice}.")


def answer_window(table: LogTable, given: Arguments, _: int) -> None:
    """Print the events of a time span."""
    events = map(stored_event, window(table, given.service, given.span))
    number = print_events(islice(events, given.limit), as_json=given.json)
    if number == 0:
        note_nothing(given.service, given.span, "Use --from and --to to select another time")
    elif next(events, None) is not None:
        note(f"Showing the first {number} events. Use --limit to see more.")


def answer_count(table: LogTable, given: Arguments, _: int) -> None:
    """Print the number of events per minute and level."""
    counts = by_minute(count(table, given.service, given.span))
    print_counts(counts, as_json=given.json)
    if not counts:
        note_nothing(given.service, given.span, "Use --from and --to to select another time")


def note_nothing(service: str, searched: Span, advice: str) -> None:
    """Say that there is no event, and what to do."""
    start, end = start_of(searched), keys.time_text(searched.end)
    note(f"No events of service '{service}' from {start} to {end}.")
    note(f"Check the name of the service (upper and lower case differ). {advice}.")


def start_of(searched: Span) -> str:
    """The start of a search, as text."""
    return keys.time_text(searched.start)


def note(text: str) -> None:
    """Print a line for people, apart from the answer."""
    print(text, file=sys.stderr)
