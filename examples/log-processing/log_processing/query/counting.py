"""Counts of events per minute and level."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable
from dataclasses import dataclass

LENGTH_OF_MINUTE = len("2026-11-23T07:15")


@dataclass(frozen=True, order=True)
class MinuteLevel:
    """One cell of the table of counts.

    Attributes:
        minute: in UTC, for example ``2026-11-23T07:15``.
        level: as the service sent it.
    """

    minute: str
    level: str


def count_events(events: Iterable[tuple[str, str]]) -> Counter[MinuteLevel]:
    """Count events, of which only timestamp and level are given."""
    return Counter(MinuteLevel(time[:LENGTH_OF_MINUTE], level) for time, level in events)


def add_counts(parts: Iterable[Counter[MinuteLevel]]) -> Counter[MinuteLevel]:
    """The sum of the counts of several buckets."""
    total: Counter[MinuteLevel] = Counter()
    for part in parts:
        total.update(part)
    return total


def by_minute(counts: Counter[MinuteLevel]) -> dict[str, dict[str, int]]:
    """Counts per minute, in the order of time, and within a minute per level."""
    rows: dict[str, dict[str, int]] = {}
    for cell in sorted(counts):
        rows.setdefault(cell.minute, {})[cell.level] = counts[cell]
    return rows
