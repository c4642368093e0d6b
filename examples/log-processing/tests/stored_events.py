"""Stored log events for tests, and a table in memory."""

from __future__ import annotations

import threading
from bisect import bisect_left, bisect_right
from collections.abc import Iterable, Mapping
from dataclasses import dataclass, field
from typing import Any

from log_processing.events.event import KinesisIdentity, LogEvent
from log_processing.query.span import HOUR_US
from log_processing.table.items import event_item

SERVICE = "checkout"
# 2026-11-23T07:00:00Z
SEVEN_US = 1_795_417_200_000_000
RETENTION_DAYS = 30
MINUTE_US, SECOND_US = 60_000_000, 1_000_000


def item(
    time_us: int,
    number: int = 0,
    *,
    service: str = SERVICE,
    level: str = "INFO",
    message: str = "paid",
    context: Mapping[str, str] | None = None,
) -> dict[str, Any]:
    """The DynamoDB item of an event, whose number makes it unique."""
    identity = KinesisIdentity("logs", "shardId-000000000000", str(number), 0, 0, 1_000)
    event = LogEvent(time_us, level, service, message, context or {}, identity)
    return {**event_item(event, RETENTION_DAYS).attributes, "storedAt": {"N": "2000"}}


def sort_keys(items: Iterable[Mapping[str, Any]]) -> list[str]:
    """What identifies the items."""
    return [it["sk"]["S"] for it in items]


@dataclass
class MemoryTable:
    """Answers queries as DynamoDB does, for the conditions of ``log_processing.query``.

    Attributes:
        largest_page: number of items at which a page ends, as DynamoDB ends one at 1 MB.
        queries: the requests.
        items_read: number of items in all answers.
    """

    items: Iterable[dict[str, Any]]
    largest_page: int = 1_000
    queries: list[dict[str, Any]] = field(default_factory=list)
    items_read: int = 0

    def __post_init__(self) -> None:
        """Sort the items into partitions."""
        self._lock = threading.Lock()
        self._partitions: dict[str, dict[str, dict[str, Any]]] = {}
        for it in sorted(self.items, key=lambda it: it["sk"]["S"]):
            self._partitions.setdefault(it["pk"]["S"], {})[it["sk"]["S"]] = it

    def query(self, **request: Any) -> dict[str, Any]:
        """One page."""
        values = request["ExpressionAttributeValues"]
        rows = self._partitions.get(values[":pk"]["S"], {})
        names = list(rows)
        low, high = values[":start"]["S"], values[":end"]["S"]
        names = names[bisect_left(names, low) : bisect_right(names, high)]
        newest_first = not request.get("ScanIndexForward", True)
        names.sort(reverse=newest_first)
        if "ExclusiveStartKey" in request:
            names = names[names.index(request["ExclusiveStartKey"]["sk"]["S"]) + 1 :]
        size = min(request.get("Limit", self.largest_page), self.largest_page)
        answer: dict[str, Any] = {"Items": [rows[name] for name in names[:size]]}
        if len(names) >= size:  # as DynamoDB: a full page may be the last one
            answer["LastEvaluatedKey"] = {"pk": values[":pk"], "sk": {"S": names[size - 1]}}
        with self._lock:
            self.queries.append(request)
            self.items_read += len(answer["Items"])
        return answer

    def hours_queried(self) -> set[str]:
        """The hours of the partitions that were asked for."""
        asked = {it["ExpressionAttributeValues"][":pk"]["S"] for it in self.queries}
        return {partition.split("#")[1] for partition in asked}


__all__ = [
    "HOUR_US",
    "MINUTE_US",
    "SECOND_US",
    "SERVICE",
    "SEVEN_US",
    "MemoryTable",
    "item",
    "sort_keys",
]
