"""Events as the table stores them."""

from __future__ import annotations

from dataclasses import dataclass

from .merge import TableItem, sort_key


@dataclass(frozen=True)
class StoredEvent:
    """An event of the table.

    Attributes:
        id: sort key, which contains the place of the event in Kinesis.
        arrival: time of arrival at Kinesis, in milliseconds since 1970.
        storedAt: when the event was stored, in milliseconds since 1970.
    """

    timestamp: str
    level: str
    service: str
    message: str
    context: dict[str, str]
    arrival: int
    storedAt: int  # noqa: N815 names of JSON
    id: str


def stored_event(item: TableItem) -> StoredEvent:
    """The event of an item."""
    context = item["context"]["M"]
    return StoredEvent(
        timestamp=item["timestamp"]["S"],
        level=item["level"]["S"],
        service=item["service"]["S"],
        message=item["message"]["S"],
        context={name: value["S"] for name, value in context.items()},
        arrival=int(item["arrival"]["N"]),
        storedAt=int(item["storedAt"]["N"]),
        id=sort_key(item),
    )
