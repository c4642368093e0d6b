"""How fast a query advances: seconds of arrival time per second."""

from __future__ import annotations

import itertools
from collections.abc import Mapping, Sequence
from datetime import datetime, timedelta
from statistics import median
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from .facts import ShardKey, Step

WINDOW = timedelta(minutes=5)
SHORTEST_STALL = timedelta(seconds=30)


def period(steps: Sequence[Step]) -> timedelta | None:
    """The usual time between two micro-batches. ``None`` before the second."""
    gaps = [after.at - before.at for before, after in itertools.pairwise(steps)]
    return timedelta(seconds=median(it.total_seconds() for it in gaps)) if gaps else None


def recent(steps: Sequence[Step], now: datetime) -> list[Step]:
    """The steps of the last five minutes, and at least the last two."""
    first = next((i for i, it in enumerate(steps) if now - it.at <= WINDOW), len(steps))
    return list(steps[max(0, min(first, len(steps) - 2)) :])


def is_stalled(steps: Sequence[Step], now: datetime) -> bool:
    """Whether the next micro-batch should have been planned long ago, if there are records."""
    usual = period(steps)
    if usual is None:
        return False
    return now - steps[-1].at > max(SHORTEST_STALL, 3 * usual)


def speeds(steps: Sequence[Step], now: datetime, behind: set[ShardKey]) -> dict[ShardKey, float]:
    """The speed of each shard that was in two recent steps.

    1 means that a shard keeps up with what arrives. A query that plans no more micro-batches
    although records wait loses speed with time.

    Args:
        steps: the steps of the query, oldest first.
        now: the time.
        behind: the shards with unread records.
    """
    known = recent(steps, now)
    stalled = is_stalled(steps, now)
    found: dict[ShardKey, float] = {}
    for key in {key for it in known for key in it.complete}:
        points = [(it.at, it.complete[key]) for it in known if key in it.complete]
        if stalled and key in behind and points:
            points.append((now, points[-1][1]))
        (began, first), (ended, last) = points[0], points[-1]
        if ended > began:
            found[key] = max(0.0, (last - first) / (ended - began))
    return found


def usual(found: Mapping[ShardKey, float]) -> float | None:
    """The speed of a shard of which nothing else is known: the median of the others."""
    return median(found.values()) if found else None
