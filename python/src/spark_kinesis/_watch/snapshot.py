"""What all views show, and how it follows from what one look has found. No clock and no I/O.

A forecast assumes that the query keeps its speed.
"""

from __future__ import annotations

import itertools
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from datetime import datetime, timedelta, timezone
from enum import Enum
from statistics import median
from typing import TYPE_CHECKING

from spark_kinesis._offsets import Progress, stream_names

if TYPE_CHECKING:
    from spark_kinesis._offsets import ShardOffset, SourceOffset

ShardKey = tuple[str, str]
"""ARN of the stream, and ID of the shard."""

LEAST_TOLERANCE = timedelta(seconds=30)
EVEN = 0.02  # a speed between 0.98 and 1.02 is not known to differ from 1
_WINDOW = timedelta(minutes=5)
_NEVER = datetime.max.replace(tzinfo=timezone.utc)


class Outlook(Enum):
    """What becomes of the lag. The query has the outlook of a shard that comes last here."""

    CAUGHT_UP = "caught_up"
    UNKNOWN = "unknown"
    KEEPS_DISTANCE = "keeps_distance"
    CATCHES_UP = "catches_up"
    LOSES_DATA = "loses_data"


@dataclass(frozen=True, kw_only=True)
class Forecast:
    """What becomes of the lag of a shard, or of all shards.

    Attributes:
        outlook: the kind of forecast.
        at: with ``CATCHES_UP`` when the lag is gone; with ``LOSES_DATA`` when the first unread
            record expires. ``None`` otherwise, or if the retention period is unknown.
        shard: ID of the shard that decides. ``None`` for a forecast of one shard.
    """

    outlook: Outlook
    at: datetime | None = None
    shard: str | None = None


@dataclass(frozen=True, kw_only=True)
class Step:
    """A completed micro-batch that moved the source."""

    at: datetime  # when it was planned
    complete: Mapping[ShardKey, datetime]  # time up to which each shard was read completely


@dataclass(frozen=True, kw_only=True)
class MicroBatch:
    """The latest micro-batch."""

    number: int  # its ID
    planned: datetime | None  # when Spark planned it. ``None`` if unknown.
    is_running: bool  # whether it is not completed
    is_overdue: bool = False  # whether the next one should have been planned: records wait


@dataclass(frozen=True, kw_only=True)
class ShardView:
    """A shard that the query reads, or will read. A figure is ``None`` if it is unknown.

    Attributes:
        stream: name of the stream, or its ARN if the query reads several with this name.
        shard: ID.
        waits_for: parents that the query has not read to the end. Then it does not read this one.
        lag: time since the first record arrived that is not processed.
        speed: seconds of arrival time that the query reads per second. 1 keeps up.
        forecast: what becomes of the lag.
    """

    stream: str
    shard: str
    waits_for: tuple[str, ...]
    lag: timedelta | None
    speed: float | None
    forecast: Forecast


@dataclass(frozen=True, kw_only=True)
class Snapshot:
    """What a query does at a moment.

    Attributes:
        at: the time.
        query: name or ID of the query, or from outside the folder or URL of its checkpoint.
        status: what Spark says that the query is doing. ``None`` if it was not asked.
        batch: the latest micro-batch. ``None`` before the first.
        lag: the largest lag of a shard. ``None`` if unknown.
        forecast: what becomes of the lag.
        shards: the shards that are read or wait, those with the largest lag first.
        notes: what went wrong, in sentences.
    """

    at: datetime
    query: str
    status: str | None
    batch: MicroBatch | None
    lag: timedelta | None
    forecast: Forecast
    shards: tuple[ShardView, ...]
    notes: tuple[str, ...]

    @property
    def loses_data(self) -> bool:
        """Whether records will expire that the query has not read."""
        return self.forecast.outlook is Outlook.LOSES_DATA


def snapshot(
    *,
    at: datetime,
    query: str,
    batch: MicroBatch | None,
    steps: Sequence[Step],
    positions: Mapping[ShardKey, ShardOffset],
    lags: Mapping[ShardKey, timedelta | None],
    retention: Mapping[str, timedelta],
    status: str | None = None,
    notes: tuple[str, ...] = (),
) -> Snapshot:
    """The figures of a query. Lags and retention periods are those that are known."""
    names = stream_names({arn for arn, _ in positions})
    finished = {key for key, it in positions.items() if it.progress is Progress.FINISHED}
    behind = {key for key, it in lags.items() if it}
    known, enough = speeds(steps, at, behind), tolerance(steps)
    shards: list[ShardView] = []
    for key, position in positions.items():
        if key not in finished:
            (arn, shard), lag, speed = key, lags.get(key), known.get(key)
            parents = tuple(it for it in position.waits_for if (arn, it) not in finished)
            shards.append(
                ShardView(
                    stream=names[arn],
                    shard=shard,
                    waits_for=parents,  # The next micro-batch reads a shard without any.
                    lag=lag,
                    speed=speed,
                    forecast=forecast(at, lag, speed, retention.get(arn), enough),
                )
            )
    # Spark itself says what a query of this session is doing.
    late = bool(behind) and status is None and is_stalled(steps, at)
    return Snapshot(
        at=at,
        query=query,
        status=status,
        batch=batch and replace(batch, is_overdue=late and not batch.is_running),
        lag=max((it.lag for it in shards if it.lag is not None), default=None),
        forecast=of_all(shards),
        shards=tuple(sorted(shards, key=lambda it: it.lag or timedelta(), reverse=True)),
        notes=notes,
    )


def shards_of(position: SourceOffset) -> dict[ShardKey, ShardOffset]:
    """The shards of all streams of a position."""
    return {
        (arn, shard): it
        for arn, stream in position.streams.items()
        for shard, it in stream.shards.items()
    }


def complete(position: SourceOffset) -> dict[ShardKey, datetime]:
    """Up to which time each shard was read completely, where the position says so."""
    found = shards_of(position).items()
    return {key: it.complete_as_of for key, it in found if it.complete_as_of is not None}


def tolerance(steps: Sequence[Step]) -> timedelta:
    """The lag up to which a query has caught up: three micro-batches, and at least 30 s."""
    gaps = [(after.at - before.at).total_seconds() for before, after in itertools.pairwise(steps)]
    return max(LEAST_TOLERANCE, timedelta(seconds=3 * median(gaps or [0])))


def is_stalled(steps: Sequence[Step], now: datetime) -> bool:
    """Whether the next micro-batch should have been planned long ago, if there are records."""
    return len(steps) > 1 and now - steps[-1].at > tolerance(steps)


def speeds(steps: Sequence[Step], now: datetime, behind: set[ShardKey]) -> dict[ShardKey, float]:
    """The speed of each shard in the last five minutes, and at least in the last two steps.

    It is the seconds of arrival time per second: 1 means that a shard keeps up with what arrives.
    If the query plans no more micro-batches, the shards ``behind``, in which records wait, lose
    speed with time.
    """
    known = steps[-max(2, sum(now - it.at <= _WINDOW for it in steps)) :]
    stalled = is_stalled(steps, now)
    found: dict[ShardKey, float] = {}
    for key in {key for it in known for key in it.complete}:
        points = [(it.at, it.complete[key]) for it in known if key in it.complete]
        if stalled and key in behind:
            points.append((now, points[-1][1]))
        (began, first), (ended, last) = points[0], points[-1]
        if ended > began:
            found[key] = max(0.0, (last - first) / (ended - began))
    return found


def forecast(
    now: datetime,
    lag: timedelta | None,
    speed: float | None,
    retention: timedelta | None,
    enough: timedelta,
) -> Forecast:
    """The forecast of a shard. A lag up to ``enough`` is none."""
    if lag is None:
        return Forecast(outlook=Outlook.UNKNOWN)
    if retention is not None and lag >= retention:
        return Forecast(outlook=Outlook.LOSES_DATA, at=now)
    if lag <= enough:
        return Forecast(outlook=Outlook.CAUGHT_UP)
    if speed is None:
        return Forecast(outlook=Outlook.UNKNOWN)
    return _at_speed(now, lag, speed, retention)


def _at_speed(now: datetime, lag: timedelta, speed: float, retention: timedelta | None) -> Forecast:
    if speed > 1 + EVEN:
        return Forecast(outlook=Outlook.CATCHES_UP, at=now + lag / (speed - 1))
    if speed >= 1 - EVEN:
        return Forecast(outlook=Outlook.KEEPS_DISTANCE)
    expires = None if retention is None else now + (retention - lag) / (1 - speed)
    return Forecast(outlook=Outlook.LOSES_DATA, at=expires)


def of_all(shards: Sequence[ShardView]) -> Forecast:
    """The forecast of a query from those of its shards.

    Data that expires first decides. Otherwise the query catches up with its last shard.
    """
    found = [replace(it.forecast, shard=it.shard) for it in shards]
    worst = max((it.outlook for it in found), key=list(Outlook).index, default=Outlook.UNKNOWN)
    if worst is Outlook.CAUGHT_UP or not found:
        return Forecast(outlook=worst)
    first = min if worst is Outlook.LOSES_DATA else max
    return first((it for it in found if it.outlook is worst), key=lambda it: it.at or _NEVER)
