"""Made-up records and events."""

from __future__ import annotations

import json
from datetime import datetime, timezone
from typing import Any

from log_processing import events
from log_processing.events import Event, Record

ARRIVAL_MS = int(datetime(2026, 11, 23, 6, 15, 9, 123_000, timezone.utc).timestamp() * 1000)


def record(data: bytes | dict[str, Any], number: int = 1, arrival_ms: int = ARRIVAL_MS) -> Record:
    """A record with some data, or with a JSON object."""
    raw = data if isinstance(data, bytes) else json.dumps(data).encode()
    return Record("logs", "shardId-000000000000", f"4966{number}", 0, arrival_ms, raw)


def fields(**changes: Any) -> dict[str, Any]:
    """The fields of an event, some of them changed or, with ``None``, left out."""
    usual = {"timestamp": ARRIVAL_MS, "level": "INFO", "service": "checkout", "message": "m"}
    return {name: it for name, it in {**usual, **changes}.items() if it is not None}


def event(number: int = 1, **changes: Any) -> Event:
    """A good event."""
    (found,) = events.read(record(fields(**changes), number))
    if not isinstance(found, Event):
        raise TypeError(found)
    return found
