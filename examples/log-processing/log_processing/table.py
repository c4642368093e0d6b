"""The table: its keys, its items, and how they are written.

The partition key is ``<service>#<hour>#b<bucket>``. Sixteen buckets spread the events of a busy
service over several partitions of DynamoDB. The sort key is ``<time>#<place in Kinesis>``: it sorts
by time, no other event has it, and it is the same each time the event is stored.
"""

from __future__ import annotations

import time
import zlib
from dataclasses import dataclass
from datetime import timedelta
from typing import TYPE_CHECKING, Any, NamedTuple

from .events import EPOCH
from .sending import Answer, Refused

if TYPE_CHECKING:
    from collections.abc import Callable, Mapping, Sequence

    from .events import Event
    from .sending import Delivery

BUCKETS = 16
MAX_ITEM_BYTES = 400 * 1024  # of DynamoDB
MAX_ITEMS = 25  # of a request
# DynamoDB allows 16 MB per request. JSON may take six bytes for one.
MAX_REQUEST_BYTES = 16 * 1024 * 1024 // 6
_NUMBER_BYTES = 21  # at most


def now_ms() -> int:
    """The time in milliseconds since 1970."""
    return time.time_ns() // 1_000_000


def time_text(time_us: int) -> str:
    """A time as text of fixed width: ``2026-11-23T07:15:09.123456Z``."""
    at = EPOCH + timedelta(microseconds=time_us)
    return at.replace(tzinfo=None).isoformat(timespec="microseconds") + "Z"


def partition_key(service: str, hour: str, bucket: int) -> str:
    """The partition key of a service, an hour such as ``2026-11-23T07``, and a bucket."""
    name = service.replace("%", "%25").replace("#", "%23")
    return f"{name}#{hour}#b{bucket}"


def event_keys(event: Event) -> tuple[str, str]:
    """The partition key and the sort key of an event."""
    record, at = event.record, time_text(event.time_us)
    sort = (
        f"{at}#{record.stream}#{record.shard_id}#{record.sequence_number}"
        f"#{record.sub_sequence_number}#{event.index}"
    )
    bucket = zlib.crc32(sort.encode()) % BUCKETS
    return partition_key(event.service, at[:13], bucket), sort


@dataclass(frozen=True)
class Item:
    """An event as an item of DynamoDB's requests, without ``storedAt``."""

    event: Event
    attributes: Mapping[str, Any]
    size: int  # bytes by DynamoDB's rules, or a few more


def item_of(event: Event, retention_days: int) -> Item:
    """The item of an event, which DynamoDB removes ``retention_days`` after its time."""
    partition, sort = event_keys(event)
    texts = {
        "pk": partition,
        "sk": sort,
        "timestamp": time_text(event.time_us),
        "level": event.level,
        "service": event.service,
        "message": event.message,
    }
    expires = event.time_us // 1_000_000 + retention_days * 24 * 60 * 60
    numbers = {"arrival": event.record.arrival_ms, "expiresAt": expires}
    attributes: dict[str, Any] = {name: {"S": text} for name, text in texts.items()}
    attributes |= {name: {"N": str(number)} for name, number in numbers.items()}
    attributes["context"] = {"M": {name: {"S": text} for name, text in event.context.items()}}
    names = (*numbers, "storedAt", "context")
    size = _bytes(texts) + _bytes(event.context) + len(event.context) + len("".join(names))
    return Item(event, attributes, size + 3 * _NUMBER_BYTES + 3)


def _bytes(texts: Mapping[str, str]) -> int:
    return len(("".join(texts) + "".join(texts.values())).encode())


class Stored(NamedTuple):
    """The items that DynamoDB stored, when it accepted the last one, and those that it refuses."""

    items: Sequence[Item]
    at_ms: int
    refused: Sequence[Refused[Item]]


def store(
    items: Sequence[Item], table: str, dynamodb: Callable[[], Any], delivery: Delivery
) -> Stored:
    """Store the items of one request: at most 25, with different keys.

    Raises:
        NotDeliveredError: if DynamoDB does not accept them.
    """

    def send(part: Sequence[Item]) -> Answer[Item]:
        now = {"N": str(now_ms())}
        puts = [{"PutRequest": {"Item": {**it.attributes, "storedAt": now}}} for it in part]
        answer = dynamodb().batch_write_item(RequestItems={table: puts})
        # DynamoDB names the table as the request does: by its name, or by its ARN.
        left = [put for puts in answer.get("UnprocessedItems", {}).values() for put in puts]
        keys = {_key(it["PutRequest"]["Item"]) for it in left}
        again = [it for it in part if _key(it.attributes) in keys]
        if len(again) != len(left):
            return Answer(part, "UnprocessedItems with items of another request")
        return Answer(again, "UnprocessedItems")

    refused = delivery.deliver(items, send)
    bad = {id(it.entry) for it in refused}
    stored = [it for it in items if id(it) not in bad]
    return Stored(stored, now_ms(), refused)


def _key(attributes: Mapping[str, Any]) -> tuple[str, str]:
    return attributes["pk"]["S"], attributes["sk"]["S"]
