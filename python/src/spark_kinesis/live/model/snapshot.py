"""What all views show."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from datetime import datetime, timedelta
from typing import TYPE_CHECKING

from .forecast import Forecast, Outlook

if TYPE_CHECKING:
    from .facts import Cost, Counters
    from .tree import Node, State


@dataclass(frozen=True, kw_only=True)
class ShardView:
    """A shard that the query reads, or will read.

    Attributes:
        stream: name of the stream.
        shard: ID.
        state: what the query does with it.
        is_open: whether it accepts records. ``None`` if unknown.
        waits_for: parents that the query has not read to the end.
        lag: time since the first record arrived that is not processed. ``None`` if unknown.
        records: number of Kinesis records that are not processed. ``None`` if unknown.
        is_counted: whether ``records`` was counted. Otherwise it is an estimate.
        arriving: records per second that arrive, an estimate.
        processed: records per second that the query processes, an estimate.
        speed: seconds of arrival time that the query reads per second. 1 keeps up.
        refused: number of reads of the view that the service refused because a limit was reached.
        expires: when the first unread record expires. ``None`` if unknown, or if there is none.
        forecast: what becomes of the lag.
        measured: when the shard was probed last. ``None`` if it never was.
    """

    stream: str
    shard: str
    state: State
    is_open: bool | None
    waits_for: tuple[str, ...]
    lag: timedelta | None
    records: int | None
    is_counted: bool
    arriving: float | None
    processed: float | None
    speed: float | None
    refused: int
    expires: datetime | None
    forecast: Forecast
    measured: datetime | None


@dataclass(frozen=True, kw_only=True)
class BatchView:
    """The latest micro-batch.

    Attributes:
        number: its ID.
        planned: when Spark planned it.
        is_running: whether it is not completed.
        age: time since it was planned.
        period: usual time between two micro-batches.
        is_overdue: whether the next one should have been planned long ago, if there are records.
        phases: milliseconds that each of Spark's phases took. Empty if unknown.
        rows: number of rows. ``None`` if unknown.
        took: time from planning to completion. ``None`` if unknown, or if it is running.
    """

    number: int
    planned: datetime | None
    is_running: bool
    age: timedelta | None
    period: timedelta | None
    is_overdue: bool
    phases: Mapping[str, int]
    rows: int | None
    took: timedelta | None


@dataclass(frozen=True, kw_only=True)
class Totals:
    """All shards together.

    Attributes:
        lag: the largest lag of a shard. ``None`` if none is known.
        records: number of records that are not processed, in shards where it is known.
        is_counted: whether all of them were counted.
        arriving: records per second that arrive. ``None`` if unknown.
        processed: records per second that the query processes. ``None`` if unknown.
        reading: number of shards that are read.
        waiting: number of shards that wait for a parent.
        measured: number of shards that were probed.
    """

    lag: timedelta | None
    records: int | None
    is_counted: bool
    arriving: float | None
    processed: float | None
    reading: int
    waiting: int
    measured: int


@dataclass(frozen=True, kw_only=True)
class Snapshot:
    """What a query does at a moment.

    Attributes:
        at: the time.
        query: name or ID of the query. ``None`` if unknown.
        place: where the facts come from.
        status: what Spark says that the query is doing. ``None`` if it was not asked.
        batch: the latest micro-batch. ``None`` before the first.
        totals: all shards together.
        forecast: what becomes of the lag.
        shards: the shards that are read or wait, those with the largest lag first.
        trees: the shards of each stream by descent, by name of the stream.
        counters: the counters of the source. ``None`` if they cannot be seen.
        cost: what the view used of the quota of a shard.
        notes: what went wrong, in sentences.
    """

    at: datetime
    query: str | None
    place: str
    status: str | None
    batch: BatchView | None
    totals: Totals
    forecast: Forecast
    shards: tuple[ShardView, ...]
    trees: Mapping[str, tuple[Node, ...]]
    counters: Counters | None
    cost: Cost
    notes: tuple[str, ...]

    @property
    def loses_data(self) -> bool:
        """Whether records will expire that the query has not read."""
        return self.forecast.outlook is Outlook.LOSES_DATA
