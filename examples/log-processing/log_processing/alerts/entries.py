"""Entries of EventBridge's requests."""

from __future__ import annotations

import json
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

from log_processing.delivery.request_plan import RequestPlan
from log_processing.events.texts import utf8_size
from log_processing.table.keys import time_text

if TYPE_CHECKING:
    from log_processing.events.event import LogEvent

SOURCE, DETAIL_TYPE = "log.stream.processor", "LogError"
MAX_ENTRIES = 10
# Of a request, by EventBridge's rules. AWS documents 1 MB, in its regions in China 256 KB.
MAX_REQUEST_BYTES = 256 * 1024
_TIME_BYTES = 14
_FIXED_BYTES = _TIME_BYTES + len(SOURCE) + len(DETAIL_TYPE)
MAX_DETAIL_BYTES = MAX_REQUEST_BYTES - 1024 - _FIXED_BYTES


@dataclass(frozen=True)
class Entry:
    """An entry of a request.

    Attributes:
        event: the event.
        time_s: time of the entry, in seconds since 1970.
        detail: JSON text with the event and its place in Kinesis.
        size: bytes by EventBridge's rules.
    """

    event: LogEvent
    time_s: float
    detail: str
    size: int

    def request(self, bus: str) -> dict[str, Any]:
        """The entry as EventBridge's requests contain it."""
        return {
            "EventBusName": bus,
            "Source": SOURCE,
            "DetailType": DETAIL_TYPE,
            "Time": self.time_s,
            "Detail": self.detail,
        }


def entry(event: LogEvent, time_s: float | None = None) -> Entry:
    """The entry of an event.

    If it is too large, its message is cut and then its context left out. The list ``shortened``
    names what is not complete. The event in the table is always complete.

    Args:
        event: an event.
        time_s: time of the entry, in seconds since 1970. Default: the time of the event.
    """
    context = dict(event.context)
    detail = _detail(event, event.message, context, ())
    if utf8_size(detail) > MAX_DETAIL_BYTES:
        detail = _shortened(event, context)
    time_s = event.time_us / 1_000_000 if time_s is None else time_s
    return Entry(event, time_s, detail, _FIXED_BYTES + utf8_size(detail))


def _shortened(event: LogEvent, context: dict[str, str]) -> str:
    names: tuple[str, ...] = ("message",)
    if utf8_size(_detail(event, "", context, names)) > MAX_DETAIL_BYTES:
        context, names = {}, ("message", "context")
        whole = _detail(event, event.message, context, ("context",))
        if utf8_size(whole) <= MAX_DETAIL_BYTES:
            return whole
    low, high = 0, len(event.message)
    while low < high:  # the longest start of the message that fits
        middle = (low + high + 1) // 2
        if utf8_size(_detail(event, event.message[:middle], context, names)) <= MAX_DETAIL_BYTES:
            low = middle
        else:
            high = middle - 1
    return _detail(event, event.message[:low], context, names)


def _detail(
    event: LogEvent, message: str, context: dict[str, str], shortened: tuple[str, ...]
) -> str:
    identity = event.identity
    fields: dict[str, Any] = {
        "timestamp": time_text(event.time_us),
        "level": event.level,
        "service": event.service,
        "message": message,
        "context": context,
        "kinesis": {
            "stream": identity.stream,
            "shardId": identity.shard_id,
            "sequenceNumber": identity.sequence_number,
            "subSequenceNumber": identity.sub_sequence_number,
            "event": identity.event,
            "arrival": identity.arrival_ms,
        },
    }
    if shortened:
        fields["shortened"] = list(shortened)
    return json.dumps(fields, ensure_ascii=False, separators=(",", ":"))


def entry_plan() -> RequestPlan[Entry]:
    """A plan within EventBridge's limits."""
    return RequestPlan(
        MAX_ENTRIES,
        MAX_REQUEST_BYTES,
        size=lambda entry: entry.size,
        key=lambda entry: entry.event.identity,
    )
