"""Entries of EventBridge's requests."""

from __future__ import annotations

import json
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

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
        detail: JSON text with the event and its place in Kinesis.
        size: bytes by EventBridge's rules.
    """

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


def entry(event: LogEvent) -> Entry:
    """The entry of an event.

    If it is too large, its message is cut and then its context left out. The list ``shortened``
    names what is not complete. The event in the table is always complete.
    """
    context = dict(event.context)
    detail = _detail(event, event.message, context, ())
    if _size(detail) > MAX_DETAIL_BYTES:
        detail = _shortened(event, context)
    return Entry(event.time_us / 1_000_000, detail, _FIXED_BYTES + _size(detail))


def _shortened(event: LogEvent, context: dict[str, str]) -> str:
    names: tuple[str, ...] = ("message",)
    if _size(_detail(event, "", context, names)) > MAX_DETAIL_BYTES:
        context, names = {}, ("message", "context")
        whole = _detail(event, event.message, context, ("context",))
        if _size(whole) <= MAX_DETAIL_BYTES:
            return whole
    low, high = 0, len(event.message)
    while low < high:  # the longest start of the message that fits
        middle = (low + high + 1) // 2
        if _size(_detail(event, event.message[:middle], context, names)) <= MAX_DETAIL_BYTES:
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


def _size(detail: str) -> int:
    return len(detail) if detail.isascii() else len(detail.encode())


class EntryPlan:
    """Collects the entries of the next request."""

    def __init__(self) -> None:
        """Has no entries."""
        self._entries: list[Entry] = []
        self._bytes = 0

    def add(self, entry: Entry) -> list[Entry]:
        """Add an entry. Returns the request that is full, or nothing."""
        full: list[Entry] = []
        if self._bytes + entry.size > MAX_REQUEST_BYTES:
            full = self.take()
        self._entries.append(entry)
        self._bytes += entry.size
        return full or (self.take() if len(self._entries) == MAX_ENTRIES else [])

    def take(self) -> list[Entry]:
        """The request that is not full yet; nothing without entries."""
        entries, self._entries = self._entries, []
        self._bytes = 0
        return entries
