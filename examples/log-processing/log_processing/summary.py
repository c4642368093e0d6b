"""What a partition did, in numbers. Small, because the driver collects one per partition."""

from __future__ import annotations

import heapq
import json
from collections import Counter
from dataclasses import dataclass, field
from typing import TYPE_CHECKING

from log_processing.table.keys import time_text

if TYPE_CHECKING:
    from log_processing.events.event import KinesisRecord, LogEvent

MAX_SECONDS = 500  # with names of the longest kind, an item of DynamoDB has room for them
_MAX_NAME, _MAX_LEVEL, _MAX_MESSAGE = 64, 32, 300
_LATEST = 5
_EXACT_MS = 100


@dataclass
class Summary:
    """Counts of a partition, or of several.

    Attributes:
        seconds: events by second of arrival, service and level; the newest ``MAX_SECONDS`` keys.
        latency: events by milliseconds from arrival until they were stored, rounded up.
        newest: newest arrival in milliseconds by stream and shard.
        latest_errors: timestamp, service and message, newest first.
    """

    records: int = 0
    events: int = 0
    bad: int = 0
    errors: int = 0
    seconds: Counter[tuple[int, str, str]] = field(default_factory=Counter)
    latency: Counter[int] = field(default_factory=Counter)
    newest: dict[tuple[str, str], int] = field(default_factory=dict)
    latest_errors: list[tuple[str, str, str]] = field(default_factory=list)

    def count_record(self, record: KinesisRecord) -> None:
        """Count a record that was read."""
        self.records += 1
        self._see(record.stream, record.shard_id, record.arrival_ms)

    def count_stored(self, event: LogEvent, stored_ms: int) -> None:
        """Count an event that was stored."""
        arrival = event.identity.arrival_ms
        self.events += 1
        self.seconds[arrival // 1000, event.service[:_MAX_NAME], event.level[:_MAX_LEVEL]] += 1
        self.latency[_rounded_up(max(0, stored_ms - arrival))] += 1
        if len(self.seconds) > 2 * MAX_SECONDS:
            self._keep_newest_seconds()
        if event.is_error:
            self.errors += 1
            error = (time_text(event.time_us), event.service[:_MAX_NAME])
            self._keep_latest([(*error, event.message[:_MAX_MESSAGE])])

    def add(self, other: Summary) -> None:
        """Add the counts of another partition."""
        self.records += other.records
        self.events += other.events
        self.bad += other.bad
        self.errors += other.errors
        self.seconds.update(other.seconds)
        self._keep_newest_seconds()
        self.latency.update(other.latency)
        for (stream, shard), arrival in other.newest.items():
            self._see(stream, shard, arrival)
        self._keep_latest(other.latest_errors)

    def percentile(self, share: float) -> int:
        """The latency that this share of the events does not exceed, at most 1 % too large."""
        left = share * self.events
        for millis, count in sorted(self.latency.items()):
            left -= count
            if left <= 0:
                return millis
        return 0

    def _see(self, stream: str, shard: str, arrival: int) -> None:
        if arrival > self.newest.get((stream, shard), -1):
            self.newest[stream, shard] = arrival

    def _keep_newest_seconds(self) -> None:
        if len(self.seconds) > MAX_SECONDS:
            self.seconds = Counter(dict(heapq.nlargest(MAX_SECONDS, self.seconds.items())))

    def _keep_latest(self, errors: list[tuple[str, str, str]]) -> None:
        self.latest_errors = heapq.nlargest(_LATEST, self.latest_errors + errors)


def _rounded_up(millis: int) -> int:
    step = 1
    while millis > _EXACT_MS * 10 * step:
        step *= 10
    return -(-millis // step) * step


def to_json(summary: Summary) -> str:
    """A summary as text, for a row of a DataFrame."""
    return json.dumps(
        {
            **vars(summary),
            "seconds": list(summary.seconds.items()),
            "latency": list(summary.latency.items()),
            "newest": list(summary.newest.items()),
        }
    )


def from_json(text: str) -> Summary:
    """The summary of a text of ``to_json``."""
    fields = json.loads(text)
    fields["seconds"] = Counter({(s, v, w): count for (s, v, w), count in fields["seconds"]})
    fields["latency"] = Counter(dict(fields["latency"]))
    fields["newest"] = {(stream, shard): at for (stream, shard), at in fields["newest"]}
    fields["latest_errors"] = [(t, s, m) for t, s, m in fields["latest_errors"]]
    return Summary(**fields)
