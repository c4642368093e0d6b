"""Puts metrics and samples together. Makes no calls."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from datetime import timedelta
from typing import TYPE_CHECKING

from spark_kinesis.advise.choices import Traffic
from spark_kinesis.advise.shards import Rate, ShardLoad
from spark_kinesis.tools.facts.cloudwatch import READ_BYTES, READS_REFUSED, Query, Series

from .tally import ShardSample

if TYPE_CHECKING:
    from spark_kinesis.tools.facts.streams import StreamShard, StreamSummary

RECORDS, BYTES = Query("IncomingRecords"), Query("IncomingBytes")
WRITES_REFUSED = Query("WriteProvisionedThroughputExceeded")
AGE = Query("GetRecords.IteratorAgeMilliseconds", statistic="Maximum")
OF_STREAM = (RECORDS, BYTES, READ_BYTES, WRITES_REFUSED, READS_REFUSED, AGE)
OF_SHARD = (RECORDS, BYTES, WRITES_REFUSED)
# A shard with metrics of fewer minutes may be new, after a split or a merge.
_NEW_POINTS = 5
# A shard that uses this part of its quota hides how much more its producers want to write.
FULL = 0.9
_LARGEST_DEMAND = 2.0  # refused records are counted again at each retry
_NONE = Series()


@dataclass(frozen=True, kw_only=True, slots=True)
class Facts:
    """Everything that was measured.

    Attributes:
        summary: the settings of the stream.
        shards: its open shards.
        samples: the sample of each shard, by ID.
        metrics: the metrics of CloudWatch; empty without them.
        window: time that the metrics cover.
        readers: number of polling applications; ``None`` to estimate it.
        lag: how far the job is behind; ``None`` if it is unknown.
    """

    summary: StreamSummary
    shards: Sequence[StreamShard]
    samples: Mapping[str, ShardSample]
    metrics: Mapping[Query, Series] = field(default_factory=dict)
    window: timedelta = timedelta()
    readers: int | None = None
    lag: timedelta | None = None

    def metric(self, query: Query, shard: str | None = None) -> Series:
        """A metric of the stream or of a shard. Without data, it is 0."""
        return self.metrics.get(Query(query.metric, shard, query.statistic), _NONE)

    @property
    def has_stream_metrics(self) -> bool:
        """Whether CloudWatch knows the writes to the stream."""
        return self.metric(RECORDS).points > 0

    @property
    def has_shard_metrics(self) -> bool:
        """Whether CloudWatch knows the writes to each shard."""
        return any(self.metric(RECORDS, it.id).points for it in self.shards)


def shard_loads(facts: Facts) -> list[ShardLoad]:
    """The load of each open shard, from the best source that there is."""
    return [_load(facts, it) for it in facts.shards]


def traffic(facts: Facts, loads: Sequence[ShardLoad]) -> Traffic:
    """The traffic of the stream as a whole."""
    average = sum((it.average for it in loads), Rate())
    peak = sum((it.peak for it in loads), Rate())
    if facts.has_stream_metrics:  # the peaks of the shards may be in different minutes
        records, bytes_ = facts.metric(RECORDS), facts.metric(BYTES)
        average = Rate(records=records.average, bytes=bytes_.average)
        peak = Rate(records=records.peak, bytes=bytes_.peak)
    samples = facts.samples.values()
    rows, records_read = sum(it.rows for it in samples), sum(it.records for it in samples)
    read = sum(it.bytes for it in samples)
    age = facts.metric(AGE)
    lag = timedelta(milliseconds=age.peak) if facts.lag is None and age.points else facts.lag
    return Traffic(
        average=average,
        peak=peak,
        rows_per_record=rows / records_read if rows else 1.0,
        row_bytes=read / rows if rows else _mean(average),
        shards=len(loads),
        wanted_shards=len(loads),
        mode=facts.summary.mode,
        retention=facts.summary.retention,
        pollers=facts.readers or _pollers(facts),
        consumers=facts.summary.consumers,
        writes_throttled=facts.metric(WRITES_REFUSED).average,
        reads_throttled=facts.metric(READS_REFUSED).average,
        lag=lag,
    )


def _load(facts: Facts, shard: StreamShard) -> ShardLoad:
    sample = facts.samples.get(shard.id, ShardSample(shard=shard.id))
    average, peak = _rates(facts, shard, sample)
    refused = facts.metric(WRITES_REFUSED, shard.id).average
    return ShardLoad(
        id=shard.id,
        first_key=shard.first_key,
        last_key=shard.last_key,
        peak=peak.times(_demand(peak, average, refused)),
        average=average,
        throttled=refused,
        sampled=sample.rows,
        points=sample.points,
        unplaced=sample.unplaced,
    )


def _rates(facts: Facts, shard: StreamShard, sample: ShardSample) -> tuple[Rate, Rate]:
    """The average and the peak of a shard."""
    if facts.has_shard_metrics:
        records, bytes_ = facts.metric(RECORDS, shard.id), facts.metric(BYTES, shard.id)
        share = Rate(records=1, bytes=1)
        if records.points < _NEW_POINTS and sample.rate.used > _used(records, bytes_):
            return sample.rate, sample.rate
    elif facts.has_stream_metrics:
        records, bytes_ = facts.metric(RECORDS), facts.metric(BYTES)
        share = _share(facts, shard, sample)
    else:
        return sample.rate, sample.rate
    average = Rate(records=records.average * share.records, bytes=bytes_.average * share.bytes)
    return average, Rate(records=records.peak * share.records, bytes=bytes_.peak * share.bytes)


def _demand(peak: Rate, average: Rate, refused: float) -> float:
    """What producers of a full shard want to write, as a multiple of what it accepts."""
    if peak.used < FULL or not average.records:
        return 1.0
    return min(_LARGEST_DEMAND, 1 + refused / average.records)


def _used(records: Series, bytes_: Series) -> float:
    return Rate(records=records.peak, bytes=bytes_.peak).used


def _share(facts: Facts, shard: StreamShard, sample: ShardSample) -> Rate:
    """The part of the stream's records and bytes that a shard has."""
    total = sum((it.rate for it in facts.samples.values()), Rate())
    if not total.records or not total.bytes:
        return Rate(records=shard.share, bytes=shard.share)
    return Rate(records=sample.rate.records / total.records, bytes=sample.rate.bytes / total.bytes)


def _pollers(facts: Facts) -> int:
    """Every polling application reads about as many bytes as are written."""
    written, read = facts.metric(BYTES).average, facts.metric(READ_BYTES).average
    return max(1, round(read / written)) if written else 1


def _mean(rate: Rate) -> float:
    return rate.bytes / rate.records if rate.records else 0.0
