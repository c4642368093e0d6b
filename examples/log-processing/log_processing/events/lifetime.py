"""How long an event stays in the table, and which events are too old or too new for it."""

from __future__ import annotations

from typing import TYPE_CHECKING

from log_processing.table.keys import time_text

from . import reasons

if TYPE_CHECKING:
    from .event import LogEvent

_DAY_SECONDS = 24 * 60 * 60
MAX_AHEAD_US = _DAY_SECONDS * 1_000_000


def expires_at(time_us: int, retention_days: int) -> int:
    """The second since 1970 from which DynamoDB may delete an event."""
    return time_us // 1_000_000 + retention_days * _DAY_SECONDS


def why_not_stored(event: LogEvent, retention_days: int, now_s: int) -> tuple[str, str] | None:
    """Reason and detail if the time of an event is too far from now, otherwise ``None``.

    The future begins a day after the record arrived, not a day from now. A repeated batch then
    decides the same.
    """
    if expires_at(event.time_us, retention_days) <= now_s:
        detail = f"{time_text(event.time_us)} is more than {retention_days} days ago"
        return reasons.EXPIRED, detail
    if event.time_us // 1000 > event.identity.arrival_ms + MAX_AHEAD_US // 1000:
        detail = f"{time_text(event.time_us)} is more than a day after the record arrived"
        return reasons.FROM_THE_FUTURE, detail
    return None
