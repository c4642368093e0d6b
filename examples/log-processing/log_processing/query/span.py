"""Spans of time, and the hours in them. Times are microseconds since 1970, UTC."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass

HOUR_US = 3_600_000_000


def start_of_hour(time_us: int) -> int:
    """The start of the hour in which a time is."""
    return time_us - time_us % HOUR_US


@dataclass(frozen=True)
class Span:
    """The times from ``start`` up to, but not including, ``end``."""

    start: int
    end: int

    def hours(self) -> Iterator[Span]:
        """The parts of the span, one per hour, the oldest first."""
        start = self.start
        while start < self.end:
            end = min(start_of_hour(start) + HOUR_US, self.end)
            yield Span(start, end)
            start = end

    def hours_newest_first(self) -> Iterator[Span]:
        """The same parts, the newest first."""
        end = self.end
        while end > self.start:
            start = max(start_of_hour(end - 1), self.start)
            yield Span(start, end)
            end = start
