"""A snapshot as JSON."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import fields, is_dataclass
from datetime import datetime, timedelta, timezone
from enum import Enum
from typing import Any


def document(value: Any) -> Any:
    """A snapshot as objects, lists, texts and numbers.

    Names are as in ``fetchedRecords``, times ISO 8601 texts in UTC, and durations seconds.
    """
    if is_dataclass(value) and not isinstance(value, type):
        return {_camel(it.name): document(getattr(value, it.name)) for it in fields(value)}
    if isinstance(value, Mapping):
        return {key: document(it) for key, it in value.items()}
    if isinstance(value, tuple):
        return [document(it) for it in value]
    if isinstance(value, datetime):
        return value.astimezone(timezone.utc).isoformat().replace("+00:00", "Z")
    if isinstance(value, timedelta):
        return value.total_seconds()
    return value.value if isinstance(value, Enum) else value


def _camel(name: str) -> str:
    first, *rest = name.split("_")
    return first + "".join(map(str.capitalize, rest))
