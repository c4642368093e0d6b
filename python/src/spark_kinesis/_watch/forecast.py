"""How fast a query is, and when it catches up or records expire that it has not read.

A forecast assumes that the query keeps its speed, and that records arrive as evenly as now.
"""

from __future__ import annotations

import itertools
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, replace
from datetime import datetime, timedelta
from enum import Enum
from statistics import median
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from .snapshot import ShardKey

LEAST_TOLERANCE = timedelta(seconds=30)
_WINDOW = timedelta(minutes=5)
_SHORTEST_STALL = timedelta(seconds=30)
EVEN = 0.02  # a speed between 0.98 and 1.02 is not known to differ from 1
_FURTHEST = timedelta(days=3650)  # beyond it, a time says nothing


class Outlook(Enum):
    """What becomes of the lag."""

    CAUGHT_UP = "caught_up"
    UNKNOWN = "unknown"
    KEEPS_DISTANCE = "keeps_distance"
    CATCHES_UP = "catches_up"
    FALLS_BEHIND = "falls_behind"
    LOSES_DATA = "loses_data"


# Of several shards, the query has the outlook that comes last here.
_WORSE = list(Outlook)


@dataclass(frozen=True, kw_only=True)
class Forecast:
    """What becomes of the lag of a shard, or of all shards.

    Attributes:
        outlook: the kind of forecast.
        at: with ``CATCHES_UP`` when the lag is gone; with ``LOSES_DATA`` when the first unread
            record expires. Otherwise ``None``.
        shard: ID of the shard that decides. ``None`` for a forecast of one shard.
    """

    outlook: Outlook
    at: datetime | None = None
    shard: str | None = None


@dataclass(frozen=True, kw_only=True)
class Step:
    """A point of the query's way: what it had processed, or begun to process, at a time."""

    at: datetime  # when the micro-batch with this end was planned
    # Its place among the micro-batches of the query's way. Not every one is known as a step, so the
    # places may have gaps, and may be estimates.
    number: float
    complete: Mapping[ShardKey, datetime]  # time up to which each shard was read completely
    rows: int | None = None  # number of rows that the micro-batch read. ``None`` if unknown.


def period(steps: Sequence[Step]) -> timedelta | None:
    """The usual time between two micro-batches. ``None`` before the second."""
    gaps = [
        (after.at - before.at).total_seconds() / max(1, after.number - before.number)
        for before, after in itertools.pairwise(steps)
    ]
    return timedelta(seconds=median(gaps)) if gaps else None


def tolerance(steps: Sequence[Step]) -> timedelta:
    """The lag up to which a query has caught up: three micro-batches, and at least 30 s."""
    return max(LEAST_TOLERANCE, 3 * (period(steps) or timedelta()))


def recent(steps: Sequence[Step], now: datetime) -> list[Step]:
    """The steps of the last five minutes, and at least the last two."""
    first = next((i for i, it in enumerate(steps) if now - it.at <= _WINDOW), len(steps))
    return list(steps)[max(0, min(first, len(steps) - 2)) :]


def is_stalled(steps: Sequence[Step], now: datetime) -> bool:
    """Whether the next micro-batch should have been planned long ago, if there are records."""
    usual = period(steps)
    if usual is None:
        return False
    return now - steps[-1].at > max(_SHORTEST_STALL, 3 * usual)


def speeds(steps: Sequence[Step], now: datetime, behind: set[ShardKey]) -> dict[ShardKey, float]:
    """The speed of each shard in two recent steps: seconds of arrival time per second.

    1 means that a shard keeps up with what arrives. If the query plans no more micro-batches, the
    shards ``behind``, in which records wait, lose speed with time.
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


def forecast(
    *,
    now: datetime,
    lag: timedelta | None,
    speed: float | None,
    retention: timedelta | None,
    tolerance: timedelta,
) -> Forecast:
    """The forecast of a shard. A lag up to the tolerance is none."""
    if lag is None:
        return Forecast(outlook=Outlook.UNKNOWN)
    if retention is not None and lag >= retention:
        return Forecast(outlook=Outlook.LOSES_DATA, at=now)
    if lag <= tolerance:
        return Forecast(outlook=Outlook.CAUGHT_UP)
    if speed is None:
        return Forecast(outlook=Outlook.UNKNOWN)
    return _at_speed(now, lag, speed, retention)


def _at_speed(now: datetime, lag: timedelta, speed: float, retention: timedelta | None) -> Forecast:
    if speed > 1 + EVEN:
        return Forecast(outlook=Outlook.CATCHES_UP, at=_after(now, lag, speed - 1))
    if speed >= 1 - EVEN:
        return Forecast(outlook=Outlook.KEEPS_DISTANCE)
    if retention is None:
        return Forecast(outlook=Outlook.FALLS_BEHIND)
    return Forecast(outlook=Outlook.LOSES_DATA, at=_after(now, retention - lag, 1 - speed))


def _after(now: datetime, distance: timedelta, speed: float) -> datetime:
    return now + min(_FURTHEST, distance / speed)


def of_all(forecasts: Iterable[tuple[str, Forecast]]) -> Forecast:
    """The forecast of a query from those of its shards, with their IDs.

    Data that expires first decides. Otherwise the query catches up with its last shard.
    """
    every = list(forecasts)
    if not every:
        return Forecast(outlook=Outlook.UNKNOWN)
    worst = max((it.outlook for _, it in every), key=_WORSE.index)
    chosen = [(shard, it) for shard, it in every if it.outlook is worst]
    timed = [(it.at, shard, it) for shard, it in chosen if it.at is not None]
    if timed:
        pick = min if worst is Outlook.LOSES_DATA else max
        _, shard, found = pick(timed, key=lambda it: it[0])
        return replace(found, shard=shard)
    shard, found = chosen[0]
    return replace(found, shard=None if worst is Outlook.CAUGHT_UP else shard)
