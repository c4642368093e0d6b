"""What a snapshot says: the words that all views share."""

from __future__ import annotations

from typing import TYPE_CHECKING

from spark_kinesis._offsets import short_id
from spark_kinesis._times import duration_text, time_text

from .snapshot import Outlook

if TYPE_CHECKING:
    from datetime import datetime, timedelta

    from .snapshot import Forecast, Snapshot

UNKNOWN = "?"


def line(found: Snapshot) -> str:
    """A snapshot in one line."""
    return f"{time_text(found.at)}  {' '.join(sentences(found))}"


def sentences(found: Snapshot) -> list[str]:
    """The forecast, the lag and the latest micro-batch of a query."""
    decides = f" Shard {short_id(found.forecast.shard)} decides." if found.forecast.shard else ""
    waiting = sum(bool(it.waits_for) for it in found.shards)
    reading = len(found.shards) - waiting
    return [
        f"The query {outlook(found.forecast, found.at)}.{decides}",
        f"Lag {duration(found.lag)}; {reading} shards read, {waiting} waiting.",
        _batch(found),
    ]


def outlook(found: Forecast, now: datetime) -> str:
    """What the query or a shard does."""
    if found.at == now:
        return "loses data: unread records expire now"
    when = f"at {time_text(found.at)}, in {duration(found.at - now)}" if found.at else ""
    return {
        Outlook.CAUGHT_UP: "has caught up",
        Outlook.UNKNOWN: "has no forecast yet",
        Outlook.KEEPS_DISTANCE: "keeps its distance",
        Outlook.CATCHES_UP: f"catches up {when}",
        Outlook.LOSES_DATA: f"falls behind{when and f': unread records expire {when}'}",
    }[found.outlook]


def _batch(found: Snapshot) -> str:
    batch = found.batch
    if batch is None:
        return "No micro-batch was planned yet."
    age = duration(found.at - batch.planned if batch.planned else None)
    if batch.is_running:
        return f"Micro-batch {batch.number} has been running for {age}."
    late = " The next one is overdue: the query is stopped or stuck." if batch.is_overdue else ""
    return f"Micro-batch {batch.number}, which began {age} ago, is completed.{late}"


def duration(value: timedelta | None) -> str:
    """A duration in its two largest units, such as ``2 h 5 min``."""
    return UNKNOWN if value is None else duration_text(value)
