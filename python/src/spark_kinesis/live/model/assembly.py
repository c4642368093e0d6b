"""From facts to a snapshot."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from datetime import datetime, timedelta
from typing import TYPE_CHECKING

from spark_kinesis.tools.facts.streams import stream_name

from .forecast import forecast, of_all
from .lag import arrival_rate, backlog, lag, rate
from .snapshot import BatchView, ShardView, Snapshot, Totals
from .speed import is_stalled, period, speeds, usual
from .tree import Node, State, tree

if TYPE_CHECKING:
    from .facts import BatchFacts, Facts, Rates, ShardFacts, ShardKey, Step

LEAST_TOLERANCE = timedelta(seconds=30)
_SHOWN = (State.READING, State.WAITING)


def snapshot(facts: Facts) -> Snapshot:
    """The snapshot of what one look has found."""
    now, steps = facts.at, facts.steps
    lags = {key: lag(it, now) for key, it in facts.shards.items()}
    behind = {key for key, it in lags.items() if it}
    trees = _trees(facts)
    nodes = {(arn, node.shard): node for arn, found in trees.items() for node in found}
    known = speeds(steps, now, behind)
    rest = usual(known)
    views = [
        _shard(facts, key, nodes[key], lags[key], known.get(key, rest))
        for key in facts.shards
        if nodes[key].state in _SHOWN
    ]
    return Snapshot(
        at=now,
        query=facts.query,
        place=facts.place,
        status=facts.status,
        # Spark itself says what a query of this session is doing.
        batch=_batch(facts.batch, steps, now, may_be_overdue=bool(behind) and not facts.status),
        totals=_totals(views, facts.rates, rest),
        forecast=of_all((it.shard, it.forecast) for it in views),
        shards=tuple(sorted(views, key=_by_lag)),
        trees={stream_name(arn): found for arn, found in trees.items()},
        counters=facts.counters,
        cost=facts.cost,
        notes=facts.notes,
    )


def tolerance(steps: Sequence[Step]) -> timedelta:
    """The lag up to which a query has caught up: three micro-batches, and at least 30 s."""
    return max(LEAST_TOLERANCE, 3 * (period(steps) or timedelta()))


def _trees(facts: Facts) -> dict[str, tuple[Node, ...]]:
    streams: dict[str, dict[str, ShardFacts]] = {}
    for (arn, shard), it in facts.shards.items():
        streams.setdefault(arn, {})[shard] = it
    return {arn: tree(streams[arn]) for arn in sorted(streams)}


def _shard(
    facts: Facts, key: ShardKey, node: Node, late: timedelta | None, speed: float | None
) -> ShardView:
    it, retention = facts.shards[key], facts.retention.get(key[0])
    records, is_counted = backlog(it, late)
    density = rate(it.backlog) if it.backlog else None
    found = forecast(
        now=facts.at,
        lag=late,
        speed=speed,
        retention=retention,
        tolerance=tolerance(facts.steps),
    )
    return ShardView(
        stream=stream_name(key[0]),
        shard=key[1],
        state=node.state,
        is_open=node.is_open,
        waits_for=it.position.waits_for if it.position and node.state is State.WAITING else (),
        lag=late,
        records=records,
        is_counted=is_counted,
        arriving=arrival_rate(it),
        processed=None if density is None or speed is None else density * speed,
        speed=speed,
        refused=it.refused,
        expires=facts.at - late + retention if late and retention else None,
        forecast=found,
        measured=it.backlog[-1].at if it.backlog else None,
    )


def _totals(views: Sequence[ShardView], measured: Rates, speed: float | None) -> Totals:
    lags = [it.lag for it in views if it.lag is not None]
    processed = measured.processed
    if processed is None:
        arriving = _sum(it.arriving for it in views)
        processed = _sum(it.processed for it in views)
        shards = sum(it.arriving is not None for it in views)
    else:  # the rate at which the records arrived that it reads
        arriving = processed / speed if speed else None
        shards = len(views)
    records, is_counted = _unread(views, arriving / shards if arriving is not None else None)
    return Totals(
        lag=max(lags, default=None),
        records=records,
        is_counted=is_counted,
        arriving=arriving,
        processed=processed,
        reading=sum(it.state is State.READING for it in views),
        waiting=sum(it.state is State.WAITING for it in views),
        measured=sum(it.measured is not None for it in views),
    )


def _unread(views: Sequence[ShardView], rate: float | None) -> tuple[int | None, bool]:
    """The unread records of all shards. ``rate`` is that of a shard of which nothing is known."""
    total, is_counted = 0.0, True
    for it in views:
        is_counted = is_counted and it.is_counted
        if it.records is not None:
            total += it.records
        elif it.state is State.WAITING:
            continue  # the estimate of its parents goes on until now
        elif it.lag is None or rate is None:
            return None, False
        else:
            total += it.lag.total_seconds() * rate
    return (round(total), is_counted) if views else (None, False)


def _batch(
    batch: BatchFacts | None, steps: Sequence[Step], now: datetime, *, may_be_overdue: bool
) -> BatchView | None:
    if batch is None:
        return None
    return BatchView(
        number=batch.number,
        planned=batch.planned,
        is_running=batch.is_running,
        age=None if batch.planned is None else max(timedelta(), now - batch.planned),
        period=period(steps),
        is_overdue=may_be_overdue and not batch.is_running and is_stalled(steps, now),
        phases=batch.phases,
        rows=batch.rows,
        took=batch.took,
    )


def _sum(rates: Iterable[float | None]) -> float | None:
    known = [it for it in rates if it is not None]
    return sum(known) if known else None


def _by_lag(view: ShardView) -> tuple[bool, float, str, str]:
    late = view.lag
    return (late is None, -late.total_seconds() if late else 0.0, view.stream, view.shard)
