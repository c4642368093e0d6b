"""What all views show, and how it follows from what one look has found. No clock and no I/O."""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, field, fields, is_dataclass, replace
from datetime import datetime, timedelta
from statistics import median
from typing import TYPE_CHECKING, Any

from spark_kinesis._offsets import stream_names

from .forecast import Forecast, Outlook, forecast, is_stalled, of_all, period, speeds, tolerance
from .tree import Node, State, tree

if TYPE_CHECKING:
    from spark_kinesis._offsets import ShardOffset, SourceOffset

    from .forecast import Step

ShardKey = tuple[str, str]
"""ARN of the stream, and ID of the shard."""

_SHOWN = (State.READING, State.WAITING)


@dataclass(frozen=True, kw_only=True)
class ShardFacts:
    """What one look has found about a shard.

    Attributes:
        position: how far the query has processed it. ``None`` if the offset does not contain it.
        lag: time since the first record arrived that is not processed. ``None`` if unknown.
        records: number of Kinesis records that are not processed. ``None`` if unknown.
    """

    parents: tuple[str, ...] = ()  # shards that it replaced, as far as they are known
    is_open: bool | None = None  # whether it accepts records. ``None`` if unknown.
    position: ShardOffset | None = None
    lag: timedelta | None = None
    records: int | None = None
    is_counted: bool = False  # whether ``records`` was counted. Otherwise it is an estimate.
    arriving: float | None = None  # records per second that arrive
    backlog_rate: float | None = None  # records per second that arrived at the position
    refused: int = 0  # number of reads that the service refused because a limit was reached
    measured: datetime | None = None  # when it was probed last. ``None`` if it never was.


@dataclass(frozen=True, kw_only=True)
class MicroBatch:
    """The latest micro-batch. ``snapshot`` adds the last three figures."""

    number: int  # its ID
    planned: datetime | None  # when Spark planned it
    is_running: bool  # whether it is not completed
    phases: Mapping[str, int] = field(default_factory=dict)  # milliseconds of Spark's, if known
    rows: int | None = None  # number of rows that it read. ``None`` if unknown.
    took: timedelta | None = None  # from planning to completion. ``None`` if unknown.
    age: timedelta | None = None  # time since it was planned
    period: timedelta | None = None  # usual time between two micro-batches
    is_overdue: bool = False  # whether the next one should have been planned, if there are records


@dataclass(frozen=True, kw_only=True)
class Counters:
    """Totals since the run began. ``docs/reference/metrics.md`` says what they mean."""

    throttled_requests: int
    retried_requests: int
    reread_ranges: int
    lost_ranges: int
    buffered_bytes: int
    spilled_bytes: int
    fetched_records: int


@dataclass(frozen=True, kw_only=True)
class Cost:
    """What the view used of the quota of the busiest shard, from 0 to 1."""

    calls: float = 0.0  # part of the five reads per second
    bytes: float = 0.0  # part of the 2 MiB per second


@dataclass(frozen=True, kw_only=True)
class Facts:
    """Everything that one look has found."""

    at: datetime  # the time
    query: str | None  # name or ID of the query. ``None`` if unknown.
    place: str  # where the facts come from, such as the folder of the checkpoint
    batch: MicroBatch | None  # the latest micro-batch. ``None`` before the first.
    steps: Sequence[Step]  # the latest steps of the query, oldest first
    shards: Mapping[ShardKey, ShardFacts]
    retention: Mapping[str, timedelta]  # by ARN of the stream, if known
    counters: Counters | None = None  # ``None`` if they cannot be seen
    processed: float | None = None  # measured rows per second of the whole source
    cost: Cost = field(default_factory=Cost)
    notes: tuple[str, ...] = ()  # what went wrong during the look, in sentences
    status: str | None = None  # what Spark says that the query is doing, if it was asked


@dataclass(frozen=True, kw_only=True)
class ShardView:
    """A shard that the query reads, or will read. A figure is ``None`` if it is unknown.

    Attributes:
        stream: name of the stream, or its ARN if the query reads several with this name.
        shard: ID.
        state: what the query does with it.
        is_open: whether it accepts records.
        waits_for: parents that the query has not read to the end.
        lag: time since the first record arrived that is not processed.
        records: number of Kinesis records that are not processed.
        is_counted: whether ``records`` was counted. Otherwise it is an estimate.
        arriving: records per second that arrive, an estimate.
        processed: records per second that the query processes, an estimate.
        speed: seconds of arrival time that the query reads per second. 1 keeps up.
        refused: number of reads of the view that the service refused because of a limit.
        expires: when the first unread record expires. ``None`` also if there is none.
        forecast: what becomes of the lag.
        measured: when the view has read the shard last, from outside only.
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
class Totals:
    """All shards together. A figure is ``None`` if it is unknown.

    Attributes:
        lag: the largest lag of a shard.
        records: number of Kinesis records that are not processed.
        is_counted: whether all of them were counted.
        arriving: records per second that arrive.
        processed: records per second that the query processes.
        reading: number of shards that are read.
        waiting: number of shards that wait for a parent.
        measured: number of shards that the view has read, from outside only. Otherwise 0.
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
        place: where the facts come from, such as the folder of the checkpoint.
        status: what Spark says that the query is doing. ``None`` if it was not asked.
        batch: the latest micro-batch. ``None`` before the first.
        totals: all shards together.
        forecast: what becomes of the lag.
        shards: the shards that are read or wait, those with the largest lag first.
        trees: the shards of each stream by descent, by ``stream`` as in the shards.
        counters: the counters of the source. ``None`` if they cannot be seen.
        cost: what the view used of the quota of a shard.
        notes: what went wrong, in sentences.
    """

    at: datetime
    query: str | None
    place: str
    status: str | None
    batch: MicroBatch | None
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

    @property
    def document(self) -> dict[str, Any]:
        """The figures for machines, with names as in ``fetchedRecords``."""
        found: dict[str, Any] = _document(self)
        return found


def _document(value: Any) -> Any:
    if is_dataclass(value) and not isinstance(value, type):
        return {camel(it.name): _document(getattr(value, it.name)) for it in fields(value)}
    if isinstance(value, Mapping):
        return {key: _document(it) for key, it in value.items()}
    return [_document(it) for it in value] if isinstance(value, tuple) else value


def camel(name: str) -> str:
    """A name as the connector writes it: ``fetchedRecords``."""
    first, *rest = name.split("_")
    return first + "".join(map(str.capitalize, rest))


def snapshot(facts: Facts) -> Snapshot:
    """The snapshot of what one look has found."""
    now, steps = facts.at, facts.steps
    behind = {key for key, it in facts.shards.items() if it.lag}
    names = stream_names({arn for arn, _ in facts.shards})
    trees = _trees(facts)
    nodes = {(arn, node.shard): node for arn, found in trees.items() for node in found}
    known = speeds(steps, now, behind)
    usual = median(known.values()) if known else None  # of shards of which nothing else is known
    views = [
        _shard(facts, key, names[key[0]], nodes[key], known.get(key, usual))
        for key in facts.shards
        if nodes[key].state in _SHOWN
    ]
    # Spark itself says what a query of this session is doing.
    may_be_overdue = bool(behind) and not facts.status
    return Snapshot(
        at=now,
        query=facts.query,
        place=facts.place,
        status=facts.status,
        batch=facts.batch and _batch(facts.batch, steps, now, may_be_overdue=may_be_overdue),
        totals=_totals(views, facts.processed, usual),
        forecast=of_all((it.shard, it.forecast) for it in views),
        shards=tuple(sorted(views, key=_by_lag)),
        trees={names[arn]: found for arn, found in trees.items()},
        counters=facts.counters,
        cost=facts.cost,
        notes=facts.notes,
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


def _trees(facts: Facts) -> dict[str, tuple[Node, ...]]:
    streams: dict[str, dict[str, ShardFacts]] = {}
    for (arn, shard), it in facts.shards.items():
        streams.setdefault(arn, {})[shard] = it
    return {arn: tree(streams[arn]) for arn in sorted(streams)}


def _shard(facts: Facts, key: ShardKey, stream: str, node: Node, speed: float | None) -> ShardView:
    it, retention = facts.shards[key], facts.retention.get(key[0])
    rate = it.backlog_rate
    return ShardView(
        stream=stream,
        shard=key[1],
        state=node.state,
        is_open=node.is_open,
        waits_for=it.position.waits_for if it.position and node.state is State.WAITING else (),
        lag=it.lag,
        records=it.records,
        is_counted=it.is_counted,
        arriving=it.arriving,
        processed=None if rate is None or speed is None else rate * speed,
        speed=speed,
        refused=it.refused,
        expires=facts.at - it.lag + retention if it.lag and retention else None,
        forecast=forecast(
            now=facts.at,
            lag=it.lag,
            speed=speed,
            retention=retention,
            tolerance=tolerance(facts.steps),
        ),
        measured=it.measured,
    )


def _totals(views: Sequence[ShardView], processed: float | None, speed: float | None) -> Totals:
    if processed is None:
        arriving = _sum(it.arriving for it in views)
        processed = _sum(it.processed for it in views)
        shards = sum(it.arriving is not None for it in views)
    else:  # the rate at which the records arrived that it reads
        arriving = processed / speed if speed else None
        shards = len(views)
    return Totals(
        lag=max((it.lag for it in views if it.lag is not None), default=None),
        records=_unread(views, arriving / shards if arriving is not None and shards else None),
        is_counted=bool(views) and all(it.is_counted for it in views),
        arriving=arriving,
        processed=processed,
        reading=sum(it.state is State.READING for it in views),
        waiting=sum(it.state is State.WAITING for it in views),
        measured=sum(it.measured is not None for it in views),
    )


def _unread(views: Sequence[ShardView], rate: float | None) -> int | None:
    """The unread records of all shards. ``rate`` is that of a shard of which nothing is known."""
    total = 0.0
    for it in views:
        if it.records is not None:
            total += it.records
        elif it.state is State.WAITING:
            continue  # the estimate of its parents goes on until now
        elif it.lag is None or rate is None:
            return None
        else:
            total += it.lag.total_seconds() * rate
    return round(total) if views else None


def _batch(
    batch: MicroBatch, steps: Sequence[Step], now: datetime, *, may_be_overdue: bool
) -> MicroBatch:
    return replace(
        batch,
        age=None if batch.planned is None else max(timedelta(), now - batch.planned),
        period=period(steps),
        is_overdue=may_be_overdue and not batch.is_running and is_stalled(steps, now),
    )


def _sum(rates: Iterable[float | None]) -> float | None:
    known = [it for it in rates if it is not None]
    return sum(known) if known else None


def _by_lag(view: ShardView) -> tuple[bool, float, str, str]:
    late = view.lag
    return (late is None, -late.total_seconds() if late else 0.0, view.stream, view.shard)
