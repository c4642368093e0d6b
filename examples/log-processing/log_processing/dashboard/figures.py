"""The figures of the page: from batches to numbers that a browser draws."""

from __future__ import annotations

from collections.abc import Sequence
from typing import TYPE_CHECKING, Any

from .chart_texts import chart_texts
from .rates import SHOWN_SECONDS, Rates, rates

if TYPE_CHECKING:
    from log_processing.progress import Latency, Progress

MOST_ERRORS = 10
MOST_SHARDS = 20
RATE_SECONDS = 10
SHARD_SECONDS = 60


def figures(batches: Sequence[Progress], *, now: int) -> dict[str, Any]:
    """The figures of the last minutes.

    Args:
        batches: sorted by time; at least one.
        now: milliseconds since 1970.
    """
    start = now - SHOWN_SECONDS * 1000
    shown = [batch for batch in batches if batch.time >= start]
    counts = rates(batches, start=start // 1000)
    lag = shards(batches)
    found: dict[str, Any] = {
        "range": [start, now],
        "seconds": [second * 1000 for second in counts.seconds],
        "levels": [{"name": it.name, "counts": it.counts} for it in counts.levels],
        "services": [{"name": it.name, "counts": it.counts} for it in counts.services],
        "latency": latencies(shown),
        "bad": {"times": [it.time for it in shown], "counts": [it.bad for it in shown]},
        "shards": lag[:MOST_SHARDS],
        "errors": latest_errors(shown),
        "now": {
            "eventsPerSecond": recent_rate(counts),
            "behindMs": lag[0]["behindMs"] if lag else None,
            **totals(shown, batches[-1].latency),
        },
    }
    found["texts"] = chart_texts(found, shard_count=shard_count(batches, len(lag)))
    return found


def latencies(batches: Sequence[Progress]) -> dict[str, list[int]]:
    """The latency of each batch that stored events."""
    known = [(batch.time, batch.latency) for batch in batches if batch.latency]
    return {
        "times": [time for time, _ in known],
        "p50": [latency.p50 for _, latency in known],
        "p99": [latency.p99 for _, latency in known],
    }


def totals(shown: Sequence[Progress], latency: Latency | None) -> dict[str, int | None]:
    """The numbers of errors and bad events, and the latency of the latest batch."""
    return {
        "p50": latency.p50 if latency else None,
        "p99": latency.p99 if latency else None,
        "errors": sum(batch.errors for batch in shown),
        "bad": sum(batch.bad for batch in shown),
    }


def shards(batches: Sequence[Progress]) -> list[dict[str, Any]]:
    """The lag of each shard that had records in the last minute of the job, the largest first."""
    recent = [lag for batch in of_last_minute(batches) for lag in batch.shards]
    newest = {(lag.stream, lag.shard): lag for lag in recent}
    found = sorted(newest.values(), key=lambda it: (-it.behindMs, it.stream, it.shard))
    return [{"name": f"{it.stream} {it.shard}", "behindMs": it.behindMs} for it in found]


def shard_count(batches: Sequence[Progress], named: int) -> int:
    """The number of shards with records in the last minute. A batch names only some of many."""
    return max(named, *(batch.shardCount for batch in of_last_minute(batches)))


def of_last_minute(batches: Sequence[Progress]) -> list[Progress]:
    """The batches of the last minute of the job."""
    start = batches[-1].time - SHARD_SECONDS * 1000
    return [batch for batch in batches if batch.time >= start]


def latest_errors(batches: Sequence[Progress]) -> list[dict[str, str]]:
    """The latest errors of all batches, the newest first."""
    found = [error for batch in batches for error in batch.latestErrors]
    found.sort(key=lambda error: error.timestamp, reverse=True)
    return [
        {"timestamp": it.timestamp, "service": it.service, "message": it.message}
        for it in found[:MOST_ERRORS]
    ]


def recent_rate(counts: Rates) -> float:
    """Events per second, over the last seconds of which all events are likely to be known.

    The newest second is left out, because its events may still arrive.
    """
    complete = counts.totals[:-1][-RATE_SECONDS:]
    return sum(complete) / len(complete) if complete else float(sum(counts.totals))
