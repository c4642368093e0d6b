"""The events of a service in a span of time."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterator
from typing import TYPE_CHECKING

from .counting import MinuteLevel, add_counts
from .merge import TableItem, merge_buckets

if TYPE_CHECKING:
    from .span import Span
    from .table import LogTable

PAGE_SIZE = 100


def window(table: LogTable, service: str, span: Span) -> Iterator[TableItem]:
    """All events, the oldest first. It reads at most one page per bucket ahead."""
    for part in span.hours():
        buckets = table.read_hour(service, part, newest_first=False, page_size=PAGE_SIZE)
        yield from merge_buckets(buckets, newest_first=False)


def count(table: LogTable, service: str, span: Span) -> Counter[MinuteLevel]:
    """The number of events per minute and level."""
    counts: Counter[MinuteLevel] = Counter()
    for part in span.hours():
        counts.update(add_counts(table.count_hour(service, part)))
    return counts
