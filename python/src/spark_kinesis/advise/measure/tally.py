"""Counts sampled records by hash key. Makes no calls."""

from __future__ import annotations

from dataclasses import dataclass, field
from hashlib import md5
from typing import TYPE_CHECKING

from spark_kinesis.advise.shards import Point, Rate
from spark_kinesis.tools.facts.aggregates import UserRecord, parse

if TYPE_CHECKING:
    from spark_kinesis.tools.facts.streams import StreamShard


@dataclass(frozen=True, kw_only=True, slots=True)
class ShardSample:
    """What was read from a shard.

    Attributes:
        shard: ID of the shard.
        records: number of Kinesis records.
        rows: number of user records.
        bytes: bytes of data and partition keys.
        seconds: time in which they arrived.
        points: records by hash key, in ascending order.
        unplaced: records and bytes whose hash key is explicit, which a reader cannot see.
        refused: whether reading ended early because the shard refused reads.
    """

    shard: str
    records: int = 0
    rows: int = 0
    bytes: int = 0
    seconds: float = 0.0
    points: tuple[Point, ...] = ()
    unplaced: Rate = field(default_factory=Rate)
    refused: bool = False

    @property
    def rate(self) -> Rate:
        """Records and bytes per second."""
        if not self.seconds:
            return Rate()
        return Rate(records=self.records / self.seconds, bytes=self.bytes / self.seconds)


class Tally:
    """Counts the records of one shard."""

    def __init__(self, shard: StreamShard) -> None:
        """Start at zero."""
        self.records = self.rows = self.bytes = 0
        self.shard_id = shard.id
        self._shard = shard
        self._points: dict[int, Point] = {}
        self._unplaced = Rate()

    def add(self, key: str | None, data: bytes) -> None:
        """Count a record.

        Args:
            key: its partition key. ``None`` with the record distribution AUTO.
            data: its data.
        """
        size = len(data) + len((key or "").encode())
        self.records += 1
        self.bytes += size
        aggregate = parse(data)
        rows = aggregate.rows if aggregate is not None else None
        if rows is None:
            self.rows += 1
            place = None if key is None else self._own(hash_key(key))
            self._count(place, key or "", Rate(records=1, bytes=size))
        elif rows:
            self.rows += len(rows)
            weight = sum(len(it.data) + len(it.key) for it in rows) or 1
            for row in rows:
                part = (len(row.data) + len(row.key)) / weight
                rate = Rate(records=1 / len(rows), bytes=size * part)
                self._count(self._place(row), row.key, rate)

    def sample(self, seconds: float, *, refused: bool = False) -> ShardSample:
        """What was counted, in records that arrived within this time."""
        return ShardSample(
            shard=self._shard.id,
            records=self.records,
            rows=self.rows,
            bytes=self.bytes,
            seconds=seconds,
            points=tuple(sorted(self._points.values(), key=lambda it: it.hash_key)),
            unplaced=self._unplaced,
            refused=refused,
        )

    def _place(self, row: UserRecord) -> int | None:
        """Where a row goes after a split: to its own hash key, or to its explicit one."""
        explicit = row.hash_key if row.hash_key and row.hash_key.isdecimal() else None
        own = self._own(hash_key(row.key))
        return own if own is not None or explicit is None else self._own(int(explicit))

    def _own(self, place: int) -> int | None:
        return place if self._shard.first_key <= place <= self._shard.last_key else None

    def _count(self, place: int | None, key: str, more: Rate) -> None:
        if place is None:
            self._unplaced += more
            return
        old = self._points.get(place)
        self._points[place] = Point(
            hash_key=place,
            key=old.key if old else key,
            records=more.records + (old.records if old else 0),
            bytes=more.bytes + (old.bytes if old else 0),
        )


def hash_key(key: str) -> int:
    """The hash key of a partition key: its MD5, as a number."""
    return int.from_bytes(md5(key.encode(), usedforsecurity=False).digest(), "big")
