"""Our values in JSON."""

from __future__ import annotations

from dataclasses import asdict, is_dataclass
from datetime import datetime, timedelta
from enum import Enum
from typing import Any

from ._times import to_iso


def plain(value: Any) -> Any:
    """A value that JSON has, for the argument ``default`` of ``json.dumps``.

    Dataclasses become objects, times ISO 8601 texts in UTC, durations seconds.
    """
    if is_dataclass(value) and not isinstance(value, type):
        return asdict(value)
    if isinstance(value, datetime):
        return to_iso(value)
    if isinstance(value, timedelta):
        return value.total_seconds()
    if isinstance(value, Enum):
        return value.value
    if isinstance(value, (set, frozenset)):
        return sorted(value)
    raise TypeError(f"{type(value).__name__} has no JSON")
