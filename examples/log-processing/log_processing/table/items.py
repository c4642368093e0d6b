"""Items of the table, as DynamoDB's requests contain them."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

from log_processing.events.lifetime import expires_at
from log_processing.events.texts import utf8_size

from .keys import event_keys, time_text

if TYPE_CHECKING:
    from log_processing.events.event import LogEvent

MAX_ITEM_BYTES = 400 * 1024
_NUMBER_BYTES = 21  # at most
_MAP_BYTES, _ENTRY_BYTES = 3, 1
_ESCAPED = 6  # \u0000: the most bytes that a byte of UTF-8 takes in a request


@dataclass(frozen=True)
class Item:
    """An item, with its size.

    Attributes:
        attributes: as DynamoDB's requests contain them, without ``storedAt``.
        stored_bytes: size by DynamoDB's rules, or a few bytes more.
        sent_bytes: size in a request, or more.
        event: the event; ``None`` for an item of the application itself.
    """

    attributes: dict[str, Any]
    stored_bytes: int
    sent_bytes: int
    event: LogEvent | None

    @property
    def key(self) -> tuple[str, str]:
        """The partition key and the sort key."""
        return key_of(self.attributes)


def key_of(attributes: dict[str, Any]) -> tuple[str, str]:
    """The partition key and the sort key of an item of DynamoDB."""
    return attributes["pk"]["S"], attributes["sk"]["S"]


def event_item(event: LogEvent, retention_days: int) -> Item:
    """The item of an event."""
    partition, sort = event_keys(event.service, event.time_us, event.identity)
    texts = {
        "pk": partition,
        "sk": sort,
        "timestamp": time_text(event.time_us),
        "level": event.level,
        "service": event.service,
        "message": event.message,
    }
    numbers = {
        "arrival": event.identity.arrival_ms,
        "expiresAt": expires_at(event.time_us, retention_days),
    }
    return _item(texts, numbers, event.context, event)


def progress_item(keys: tuple[str, str], progress: str, expires: int) -> Item:
    """The item of a micro-batch's progress."""
    texts = {"pk": keys[0], "sk": keys[1], "progress": progress}
    return _item(texts, {"expiresAt": expires}, None, None)


def _item(
    texts: dict[str, str],
    numbers: dict[str, int],
    context: Any,
    event: LogEvent | None,
) -> Item:
    attributes: dict[str, Any] = {name: {"S": text} for name, text in texts.items()}
    size = _bytes(texts)
    for name, number in numbers.items():
        attributes[name] = {"N": str(number)}
    size += sum(len(name) + _NUMBER_BYTES for name in numbers)
    size += len("storedAt") + _NUMBER_BYTES
    if context is not None:
        attributes["context"] = {"M": {name: {"S": text} for name, text in context.items()}}
        size += len("context") + _MAP_BYTES + _bytes(context) + _ENTRY_BYTES * len(context)
    # Only large items come near the limit of a request. For these, the bound is generous.
    count = len(attributes) + len(context or ())
    sent = size * _ESCAPED + _NUMBER_BYTES * 2 * count
    return Item(attributes, size, sent, event)


def _bytes(texts: Any) -> int:
    return utf8_size("".join(texts) + "".join(texts.values()))
