"""The traffic of a stream as a whole."""

from __future__ import annotations

from dataclasses import dataclass
from datetime import timedelta
from math import ceil

from spark_kinesis.advise.shards import Rate

# Bytes of an aggregated record for each row beside key and data, and for the record itself.
_ROW_BYTES, _AGGREGATE_BYTES = 8, 120


@dataclass(frozen=True, kw_only=True, slots=True)
class Traffic:
    """What is written to a stream and how it is read.

    Attributes:
        average: writes per second, over the whole measured time.
        peak: writes per second in the busiest minute.
        rows_per_record: number of user records in a Kinesis record, 1 without aggregation.
        row_bytes: mean size of a user record, in bytes.
        shards: number of open shards.
        wanted_shards: number of shards that the stream should have.
        mode: ``PROVISIONED`` or ``ON_DEMAND``; ``None`` before there is a stream.
        retention: how long records are kept.
        pollers: number of applications that read with ``GetRecords``, this job included.
        consumers: number of consumers of enhanced fan-out.
        writes_throttled: refused records per second.
        reads_throttled: refused reads per second.
        lag: how far the slowest reader is behind; ``None`` if it is unknown.
    """

    average: Rate
    peak: Rate
    rows_per_record: float = 1.0
    row_bytes: float
    shards: int
    wanted_shards: int
    mode: str | None = None
    retention: timedelta = timedelta(days=1)
    pollers: int = 1
    consumers: int = 0
    writes_throttled: float = 0.0
    reads_throttled: float = 0.0
    lag: timedelta | None = None

    @property
    def record_bytes(self) -> float:
        """Mean size of a Kinesis record, in bytes."""
        return self.average.bytes / self.average.records if self.average.records else self.row_bytes

    @property
    def rows(self) -> float:
        """User records per second in the busiest minute."""
        return self.peak.records * self.rows_per_record

    def aggregated(self, rate: Rate) -> Rate:
        """The rate if each record were an aggregate that fills a payload unit of 25 KB."""
        rows = rate.records * self.rows_per_record
        bytes_ = rows * (self.row_bytes + _ROW_BYTES)
        records = max(bytes_ / PAYLOAD_UNIT, 0.0)
        return Rate(records=records, bytes=bytes_ + records * _AGGREGATE_BYTES)


# The unit in which provisioned streams are charged for writes.
PAYLOAD_UNIT = 25 * 1024


def shards_for(rate: Rate, most: float) -> int:
    """Number of shards for a rate that is spread evenly over them."""
    return max(1, ceil(rate.used / most - 1e-9))


def shards_text(count: int) -> str:
    """A number of shards in words."""
    return f"{count} shard" if count == 1 else f"{count} shards"
