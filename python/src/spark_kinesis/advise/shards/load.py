"""The load of shards, as rates and as a sample of hash keys."""

from __future__ import annotations

from dataclasses import dataclass, field

from spark_kinesis.tools.facts.records import WRITE_BYTES, WRITE_RECORDS


@dataclass(frozen=True, kw_only=True, slots=True)
class Rate:
    """Writes per second.

    Attributes:
        records: number of Kinesis records. An aggregated record is one.
        bytes: bytes of data and partition keys, as the quota counts them.
    """

    records: float = 0.0
    bytes: float = 0.0

    def __add__(self, other: Rate) -> Rate:
        return Rate(records=self.records + other.records, bytes=self.bytes + other.bytes)

    def times(self, factor: float) -> Rate:
        """This rate, multiplied."""
        return Rate(records=self.records * factor, bytes=self.bytes * factor)

    @property
    def used(self) -> float:
        """The used part of a shard's write quota: of records or of bytes, whichever is larger."""
        return max(self.records / WRITE_RECORDS, self.bytes / WRITE_BYTES)


@dataclass(frozen=True, kw_only=True, slots=True)
class Point:
    """What a sample contains of one hash key.

    Attributes:
        hash_key: the hash key.
        key: one partition key that has this hash key.
        records: number of sampled records. A row of an aggregated record counts as a part of it.
        bytes: their size.
    """

    hash_key: int
    key: str
    records: float
    bytes: float


@dataclass(frozen=True, kw_only=True, slots=True)
class ShardLoad:
    """An open shard.

    Attributes:
        id: ID of the shard.
        first_key: lowest hash key, inclusive.
        last_key: highest hash key, inclusive.
        peak: writes per second in the busiest measured minute.
        average: writes per second in the whole measured time.
        throttled: records per second that were refused because of the quota of this shard.
        sampled: number of sampled rows. Rows of aggregated records count one by one.
        points: the sampled hash keys, in ascending order.
        unplaced: records and bytes of the sample that have an explicit hash key, which a reader
            cannot see.
    """

    id: str
    first_key: int
    last_key: int
    peak: Rate
    average: Rate = field(default_factory=Rate)
    throttled: float = 0.0
    sampled: int = 0
    points: tuple[Point, ...] = ()
    unplaced: Rate = field(default_factory=Rate)
