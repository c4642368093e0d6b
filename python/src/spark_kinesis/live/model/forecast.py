"""When a query catches up, or when records expire that it has not read.

A forecast assumes that the query keeps its speed, and that records arrive as evenly as now.
"""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass, replace
from datetime import datetime, timedelta
from enum import Enum

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


def forecast(
    *,
    now: datetime,
    lag: timedelta | None,
    speed: float | None,
    retention: timedelta | None,
    tolerance: timedelta,
) -> Forecast:
    """The forecast of a shard.

    Args:
        now: the time.
        lag: how far the shard is behind.
        speed: seconds of arrival time that the query reads per second.
        retention: how long the stream keeps records.
        tolerance: a lag up to this is none.
    """
    if lag is None:
        return Forecast(outlook=Outlook.UNKNOWN)
    if retention is not None and lag >= retention:
        return Forecast(outlook=Outlook.LOSES_DATA, at=now)
    if lag <= tolerance:
        return Forecast(outlook=Outlook.CAUGHT_UP)
    if speed is None:
        return Forecast(outlook=Outlook.UNKNOWN)
    if speed > 1 + EVEN:
        return Forecast(outlook=Outlook.CATCHES_UP, at=_after(now, lag, speed - 1))
    return _not_catching_up(now, None if retention is None else retention - lag, speed)


def _not_catching_up(now: datetime, left: timedelta | None, speed: float) -> Forecast:
    if speed >= 1 - EVEN:
        return Forecast(outlook=Outlook.KEEPS_DISTANCE)
    if left is None:
        return Forecast(outlook=Outlook.FALLS_BEHIND)
    return Forecast(outlook=Outlook.LOSES_DATA, at=_after(now, left, 1 - speed))


def of_all(forecasts: Iterable[tuple[str, Forecast]]) -> Forecast:
    """The forecast of a query from those of its shards.

    Data that expires first decides. Otherwise the query catches up with its last shard.

    Args:
        forecasts: shard IDs and their forecasts.
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


def _after(now: datetime, distance: timedelta, speed: float) -> datetime:
    return now + min(_FURTHEST, distance / speed)
