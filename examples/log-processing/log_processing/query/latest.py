"""The latest events of a service."""

from __future__ import annotations

from dataclasses import dataclass
from itertools import islice
from typing import TYPE_CHECKING

from log_processing.events.lifetime import MAX_AHEAD_US
from log_processing.table.keys import BUCKETS

from .merge import TableItem, merge_buckets
from .span import HOUR_US, Span

if TYPE_CHECKING:
    from .table import LogTable


@dataclass(frozen=True)
class Latest:
    """The answer.

    Attributes:
        items: the oldest first.
        searched: the span that was read. It is shorter than the limit if enough events were found.
    """

    items: list[TableItem]
    searched: Span


def page_size(wanted: int) -> int:
    """Items per request: twice the even share of a bucket, so that one page is often enough."""
    return 2 * -(-wanted // BUCKETS)


def latest(table: LogTable, service: str, *, wanted: int, hours: int, now: int) -> Latest:
    """Find the latest events, hour by hour, and stop as soon as there are enough.

    The job stores events that are dated in the future, so the search begins there. Each hour takes
    one request per bucket, and more only for the events that are wanted.

    Args:
        table: where to look.
        service: name of the service.
        wanted: number of events.
        hours: how far to look back.
        now: the current time, in microseconds since 1970.
    """
    limit = Span(now - hours * HOUR_US, now + MAX_AHEAD_US)
    found: list[TableItem] = []
    searched_to = limit.end
    for part in limit.hours_newest_first():
        missing = wanted - len(found)
        if missing == 0:
            break
        size = page_size(missing)
        buckets = table.read_hour(service, part, newest_first=True, page_size=size)
        found += islice(merge_buckets(buckets, newest_first=True), missing)
        searched_to = part.start
    return Latest(found[::-1], Span(searched_to, limit.end))
