"""The lines written and the lines that arrived, so far."""

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
    """Totals of the books.

    Attributes:
        written: number of lines that Kinesis acknowledged.
        read: number of lines read from ``parsed``.
        written_by_shard: number of lines written, by shard of ``access-log``.
        read_by_shard: number of lines read, by shard of ``access-log``.
        by_status: number of lines by HTTP status, from the stream ``status-counts``.
        seconds: median time from write to arrival of the latest lines.
    """

    written: int
    read: int
    written_by_shard: dict[str, int]
    read_by_shard: dict[str, int]
    by_status: dict[int, int]
    seconds: float


class Books:
    """All lines written and all lines that arrived. Threads may share it."""

    def __init__(self) -> None:
        """Start with empty books."""
        self._lock = threading.Lock()
        self._written: dict[LineKey, tuple[str, float]] = {}
        self._arrivals: list[Arrival] = []
        self._seen: set[LineKey] = set()
        self._counts: dict[tuple[int, int], int] = {}
        self._seconds: deque[float] = deque([0.0], maxlen=500)

    def wrote(self, lines: Collection[tuple[LineKey, str]], now: float) -> None:
        """Add lines that Kinesis has acknowledged, each with its shard."""
        with self._lock:
            self._written.update({line: (shard, now) for line, shard in lines})

    def arrived(self, data: bytes, now: float) -> None:
        """Add a record of the stream ``parsed``."""
        fields = json.loads(data)
        arrival = Arrival(**{name: fields[name] for name in Arrival.__slots__})
        with self._lock:
            self._arrivals.append(arrival)
            if arrival.line not in self._seen:
                self._seen.add(arrival.line)
                _, since = self._written.get(arrival.line, ("", now))
                self._seconds.append(now - since)

    def counted(self, data: bytes, _now: float) -> None:
        """Add a record of the stream ``status-counts``, in place of one that it repeats."""
        fields = json.loads(data)
        with self._lock:
            self._counts[fields["batch"], fields["status"]] = fields["lines"]

    def totals(self) -> Totals:
        """The current totals."""
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
        """Whether all lines written have arrived and are counted."""
        with self._lock:
            everything = self._written.keys() <= self._seen
            return everything and sum(self._counts.values()) >= len(self._seen)

    def verdict(self) -> Verdict:
        """Compare the lines written with those that arrived."""
        with self._lock:
            return judge(self._written, self._arrivals, sum(self._counts.values()))
