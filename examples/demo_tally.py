"""The demo's books: what was written, and what arrived downstream."""

from __future__ import annotations

import json
import threading
import time
from collections import Counter, defaultdict
from dataclasses import dataclass
from itertools import pairwise


@dataclass(frozen=True)
class Arrival:
    """A line that a record of the second stream counts."""

    batch: int
    sequence: int
    host: str
    visit: int


class Tally:
    """Every line written and every line that arrived; safe to use from several threads."""

    def __init__(self) -> None:
        """Empty books."""
        self._lock = threading.Lock()
        self._written: dict[tuple[str, int], float] = {}
        self._arrived: list[Arrival] = []
        self._counted: set[tuple[int, str]] = set()
        self._statuses: Counter[str] = Counter()
        self._shards: Counter[str] = Counter()
        self._delays: dict[str, float] = {}

    def wrote(self, lines: list[tuple[str, int]]) -> None:
        """Lines that Kinesis is about to take."""
        now = time.monotonic()
        with self._lock:
            self._written.update(dict.fromkeys(lines, now))

    def counted(self, data: bytes) -> None:
        """A record of the second stream. The sink may repeat one: its batch and status tell."""
        record = json.loads(data)
        now = time.monotonic()
        with self._lock:
            name = (record["batch"], record["status"])
            if name in self._counted:
                return
            self._counted.add(name)
            self._statuses[record["status"]] += record["count"]
            for line in record["lines"]:
                key = (line["host"], line["visit"])
                self._arrived.append(Arrival(record["batch"], int(line["sequence"]), *key))
                self._shards[line["shard"]] += 1
                self._delays[line["shard"]] = now - self._written.get(key, now)

    def shards(self) -> list[tuple[str, int, float]]:
        """Each shard read so far, its lines, and the seconds its last line was on the way."""
        with self._lock:
            return [(s, n, self._delays[s]) for s, n in sorted(self._shards.items())]

    def statuses(self) -> list[tuple[str, int]]:
        """Lines per HTTP status."""
        with self._lock:
            return sorted(self._statuses.items())

    def totals(self) -> tuple[int, int]:
        """Lines written, lines arrived."""
        with self._lock:
            return len(self._written), len(self._arrived)

    def is_complete(self) -> bool:
        """Whether every line written has arrived."""
        return self._faults()["lost"] == 0

    def is_flawless(self) -> bool:
        """Whether there were lines, and each arrived once and in order."""
        return self.totals()[0] > 0 and not any(self._faults().values())

    def verdict(self) -> str:
        """The demo's last line."""
        written, read = self.totals()
        faults = " ".join(f"{name}={count}" for name, count in self._faults().items())
        return f"demo: written={written} read={read} {faults}"

    def _faults(self) -> dict[str, int]:
        with self._lock:
            seen = Counter((line.host, line.visit) for line in self._arrived)
            visits: dict[str, list[int]] = defaultdict(list)
            for line in sorted(self._arrived, key=lambda a: (a.batch, a.sequence)):
                visits[line.host].append(line.visit)
            return {
                "lost": len(self._written.keys() - seen.keys()),
                "duplicated": sum(times - 1 for times in seen.values()),
                "out_of_order": sum(b < a for of in visits.values() for a, b in pairwise(of)),
            }
