"""Which shards to probe next, and what that costs of their quotas."""

from __future__ import annotations

from collections import deque
from collections.abc import Mapping
from datetime import datetime, timedelta

from spark_kinesis.tools.facts.records import READ_BYTES, READ_CALLS

from .facts import Cost, ShardKey

PERIOD = timedelta(seconds=5)
"""A shard is probed at most once in this time."""
PROBES_PER_SECOND = 20.0
"""Probes of all shards together: few, so that a view is no load on its machine either."""
SAMPLE_BYTES = 64 * 1024
"""What a probe may read, if records are as large as the earlier ones."""
MOST_RECORDS = 100
WINDOW = timedelta(minutes=1)


def due(
    probed: Mapping[ShardKey, datetime | None], now: datetime, passed: timedelta
) -> list[ShardKey]:
    """The shards to probe now: those that were not probed for longest come first.

    Args:
        probed: when each shard was probed last. ``None`` if it never was.
        now: the time.
        passed: time since the last probes, which limits their number.
    """
    most = max(1, int(passed.total_seconds() * PROBES_PER_SECOND))
    ages = [
        (at is not None, at or now, key)
        for key, at in probed.items()
        if at is None or now - at >= PERIOD
    ]
    return [key for _, _, key in sorted(ages)[:most]]


def limit(record_size: float | None) -> int:
    """How many records a probe may read.

    Args:
        record_size: mean size of the records in bytes. ``None`` if unknown: then it reads one.
    """
    if record_size is None:
        return 1
    return max(1, min(MOST_RECORDS, int(SAMPLE_BYTES / max(record_size, 1.0))))


class Spending:
    """The reads of the last minute."""

    def __init__(self) -> None:
        """Nothing was read."""
        self._reads: deque[tuple[datetime, ShardKey, int]] = deque()

    def add(self, at: datetime, key: ShardKey, size: int) -> None:
        """Count a read of a number of bytes."""
        self._reads.append((at, key, size))

    def cost(self, now: datetime) -> Cost:
        """What was used of the quota of the shard of which most was used."""
        while self._reads and now - self._reads[0][0] > WINDOW:
            self._reads.popleft()
        calls: dict[ShardKey, int] = {}
        sizes: dict[ShardKey, int] = {}
        for _, key, size in self._reads:
            calls[key] = calls.get(key, 0) + 1
            sizes[key] = sizes.get(key, 0) + size
        seconds = WINDOW.total_seconds()
        return Cost(
            calls=max(calls.values(), default=0) / (READ_CALLS * seconds),
            bytes=max(sizes.values(), default=0) / (READ_BYTES * seconds),
        )
