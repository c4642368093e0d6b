"""What was written and what arrived, so far."""

from __future__ import annotations

import json
import threading
from collections import Counter, deque
from collections.abc import Collection
from dataclasses import dataclass
from statistics import median

from .verdict import Arrival, LineKey, Verdict, judge


@dataclass(frozen=True, kw_only=True, slots=True)
class Totals:
    """The books at a moment.

    Attributes:
        written: lines that Kinesis acknowledged.
        read: lines found downstream.
        written_by_shard: the same, by the shard that took them.
        read_by_shard: the same, by the shard they were read from.
        by_status: lines per HTTP status, as the stream ``status-counts`` says.
        seconds: the median of how long the latest lines were on their way.
    """

    written: int
    read: int
    written_by_shard: dict[str, int]
    read_by_shard: dict[str, int]
    by_status: dict[int, int]
    seconds: float


class Books:
    """Every line written and every line that arrived; safe to use from several threads."""

    def __init__(self) -> None:
        """Empty books."""
        self._lock = threading.Lock()
        self._written: dict[LineKey, tuple[str, float]] = {}
        self._arrivals: list[Arrival] = []
        self._seen: set[LineKey] = set()
        self._counts: dict[tuple[int, int], int] = {}
        self._seconds: deque[float] = deque([0.0], maxlen=500)

    def wrote(self, lines: Collection[tuple[LineKey, str]], now: float) -> None:
        """Lines that Kinesis has acknowledged, each with its shard; now in seconds."""
        with self._lock:
            self._written.update({line: (shard, now) for line, shard in lines})

    def arrived(self, data: bytes, now: float) -> None:
        """A record of the stream ``parsed``; now in seconds."""
        fields = json.loads(data)
        arrival = Arrival(**{name: fields[name] for name in Arrival.__slots__})
        with self._lock:
            self._arrivals.append(arrival)
            if arrival.line not in self._seen:
                self._seen.add(arrival.line)
                _, since = self._written.get(arrival.line, ("", now))
                self._seconds.append(now - since)

    def counted(self, data: bytes, _now: float) -> None:
        """A record of the stream ``status-counts``. Sent again, it replaces itself."""
        fields = json.loads(data)
        with self._lock:
            self._counts[fields["batch"], fields["status"]] = fields["lines"]

    def totals(self) -> Totals:
        """The books now."""
        with self._lock:
            by_status: Counter[int] = Counter()
            for (_, status), lines in self._counts.items():
                by_status[status] += lines
            return Totals(
                written=len(self._written),
                read=len(self._seen),
                written_by_shard=Counter(shard for shard, _ in self._written.values()),
                read_by_shard=Counter(arrival.shard for arrival in self._arrivals),
                by_status=dict(sorted(by_status.items())),
                seconds=median(self._seconds),
            )

    def is_complete(self) -> bool:
        """Whether every line written has arrived and is counted."""
        with self._lock:
            everything = self._written.keys() <= self._seen
            return everything and sum(self._counts.values()) >= len(self._seen)

    def verdict(self) -> Verdict:
        """Close the books."""
        with self._lock:
            return judge(self._written, self._arrivals, sum(self._counts.values()))
