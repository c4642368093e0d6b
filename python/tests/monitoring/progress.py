"""The progress of a query, as Spark writes it."""

from __future__ import annotations

from typing import Any


def progress(
    source: dict[str, str] | None = None,
    sink: dict[str, str] | None = None,
    name: str | None = "orders",
    description: str = "Kinesis[stream orders]",
) -> dict[str, Any]:
    """The progress of a query with a source, and with a sink if it has metrics."""
    return {
        "id": "0f7f",
        "runId": "9a1b",
        "name": name,
        "timestamp": "2026-11-23T08:00:00.000Z",
        "batchId": 7,
        "sources": [{"description": description, "metrics": source or {}}],
        "sink": {"description": "kinesis" if sink is not None else "noop", "metrics": sink or {}},
    }
