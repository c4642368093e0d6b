"""How far a shard is behind, in time and in records."""

from __future__ import annotations

from collections.abc import Sequence
from datetime import datetime, timedelta
from typing import TYPE_CHECKING

from spark_kinesis.tools.facts.offsets import Progress, ShardOffset
from spark_kinesis.tools.facts.records import WRITE_RECORDS

if TYPE_CHECKING:
    from .facts import Reading, ShardFacts

_NONE = timedelta()


def read_to(position: ShardOffset, readings: Sequence[Reading] = ()) -> datetime | None:
    """The latest time before which no record is unread, as far as is known.

    Args:
        position: how far the query has processed the shard.
        readings: probes at this position or earlier ones of the query.
    """
    known = [
        it.probe.unread_since(it.at) for it in readings if not _is_after(it.position, position)
    ]
    began = position.complete_until
    return max(known if began is None else [*known, began], default=None)


def lag(facts: ShardFacts, now: datetime) -> timedelta | None:
    """The time since the first record arrived that the query has not processed.

    The value is zero if the latest probe found no such record. Between two probes it is an upper
    limit. ``None`` if nothing is known.
    """
    position = facts.position
    if position is None:
        return None
    latest = _latest_here(facts)
    if position.progress is Progress.FINISHED or (latest and latest.found_nothing):
        return _NONE
    since = read_to(position, facts.backlog)
    return None if since is None else max(_NONE, now - since)


def backlog(facts: ShardFacts, late: timedelta | None) -> tuple[int | None, bool]:
    """The number of records that are not processed, and whether it was counted.

    Otherwise it is an estimate: the mean of the rates at which records arrived at the position and
    arrive now, times the lag. The number is ``None`` if no rate is known.

    Args:
        facts: what is known about the shard.
        late: its lag.
    """
    if late is None or facts.position is None:
        return None, False
    latest = _latest_here(facts)
    if late == _NONE or (latest is not None and latest.is_whole):
        return (latest.probe.records if latest is not None else 0), True
    rates = [it for it in (rate(facts.backlog), rate(facts.tip)) if it is not None]
    if not rates:
        return None, False
    seen = latest.probe.records if latest is not None else 0
    return max(seen, round(sum(rates) / len(rates) * late.total_seconds())), False


def arrival_rate(facts: ShardFacts) -> float | None:
    """The records per second that arrive: by probes of the tip, or else of the backlog."""
    at_tip = rate(facts.tip)
    return rate(facts.backlog) if at_tip is None else at_tip


def rate(readings: Sequence[Reading]) -> float | None:
    """The records per second that arrived where probes read. ``None`` if they do not tell."""
    known = [it for it in map(_counted, readings) if it is not None]
    seconds = sum(it[1] for it in known)
    if seconds <= 0:
        return None
    return min(WRITE_RECORDS, sum(it[0] for it in known) / seconds)


def _counted(reading: Reading) -> tuple[int, float] | None:
    """A number of records, and the seconds in which they arrived."""
    found = reading.probe
    end = reading.at if reading.is_whole else found.last_arrived
    start, count = reading.position.complete_until, found.records
    if start is None:  # then time begins with the first record, which does not count
        start, count = found.arrived, count - 1
    if start is None or end is None or end <= start:
        return None
    return count, (end - start).total_seconds()


def _is_after(first: ShardOffset, second: ShardOffset) -> bool:
    """Whether a position comes after another: then the query was rewound in between."""
    if first.sequence_number is None:
        return False
    return second.sequence_number is None or first.sequence_number > second.sequence_number


def _latest_here(facts: ShardFacts) -> Reading | None:
    """The latest probe, if it was at the present position."""
    if not facts.backlog or facts.position is None:
        return None
    latest = facts.backlog[-1]
    return latest if latest.position.place == facts.position.place else None
