"""Measures the load of each shard: metrics of CloudWatch, and a sample of records.

Changes nothing.
"""

from __future__ import annotations

import time
from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import replace
from datetime import datetime, timedelta
from hashlib import md5
from typing import TYPE_CHECKING, Any

from spark_kinesis._boto import aws_errors, code_of
from spark_kinesis._times import utc_now
from spark_kinesis.tools.facts.aggregates import UserRecord, parse
from spark_kinesis.tools.facts.cloudwatch import Series, read_metrics
from spark_kinesis.tools.facts.records import READ_BYTES, THROTTLED, pause_after
from spark_kinesis.tools.facts.streams import Advance, ask_each, named

from .layout import LEAST_SAMPLE, Atom, Rate, ShardLoad

if TYPE_CHECKING:
    from mypy_boto3_kinesis import KinesisClient

    from spark_kinesis.tools.facts.streams import StreamShard, StreamSummary

SHARE = 1 / 5  # of the read quota of a shard
WINDOW = timedelta(hours=3)  # of the metrics
ROWS = 2000  # of a shard are enough
_CALLS = 16
_LIMIT = 1000
_LEAST = timedelta(seconds=1)
RECORDS, BYTES = "IncomingRecords", "IncomingBytes"
# A shard that uses this part of its quota hides how much more its producers want to write.
FULL = 0.9
_NONE = Series()


def measure(  # noqa: PLR0917 those of `advise`
    kinesis: KinesisClient,
    cloudwatch: Any | None,
    summary: StreamSummary,
    shards: Sequence[StreamShard],
    sample: timedelta,
    advance: Advance,
) -> tuple[tuple[ShardLoad, ...], tuple[str, ...]]:
    """The load of each open shard, and how the figures were found."""
    # The clock of the service, rounded down, also gives records their arrival times.
    now = utc_now() if summary.server_time is None else summary.server_time + timedelta(seconds=1)
    notes: list[str] = []
    metrics: Mapping[str, Series] = {}
    if cloudwatch is not None:
        begin = max(now - WINDOW, summary.created)
        try:
            metrics = read_metrics(cloudwatch, summary.name, (RECORDS, BYTES), begin, now)
        except aws_errors() as error:
            notes.append(f"CloudWatch is not used: {error}")

    def read(shard: StreamShard) -> ShardLoad:
        return read_sample(kinesis, summary.arn, shard, since=now - sample, until=now)

    samples = dict(zip(shards, ask_each(read, shards, advance), strict=True))
    loads = tuple(loads_of(metrics, samples))
    rows = sum(it.sampled for it in samples.values())
    if metrics.get(RECORDS, _NONE).points:
        notes.append(
            "Rates: CloudWatch for the whole stream, the busiest minute of the last three hours, "
            f"divided among the shards like {rows} sampled rows."
        )
    else:
        notes.append(f"Rates: {rows} sampled rows, without CloudWatch. They show no busier time.")
    if full := [it.id for it in loads if it.peak.used >= FULL]:
        notes.append(
            f"{named(full)}: full. Producers may want to write more than these accept. Ask again "
            "after the change."
        )
    return loads, tuple(notes)


def read_sample(
    client: KinesisClient,
    arn: str,
    shard: StreamShard,
    *,
    since: datetime,
    until: datetime,
    sleep: Callable[[float], None] = time.sleep,
) -> ShardLoad:
    """The load in records of a shard that arrived within a time, read in at most 16 calls.

    It uses a fifth of the read quota of the shard. If other readers use up the quota, it ends with
    what it has.
    """
    tally, last = _Tally(shard), until
    iterator: str | None = client.get_shard_iterator(
        StreamARN=arn, ShardId=shard.id, ShardIteratorType="AT_TIMESTAMP", Timestamp=since
    )["ShardIterator"]
    for _ in range(_CALLS):
        try:
            answer = client.get_records(
                ShardIterator=iterator or "", Limit=tally.limit, StreamARN=arn
            )
        except aws_errors() as error:
            if code_of(error) != THROTTLED:
                raise
            break
        for record in answer["Records"]:
            last = record["ApproximateArrivalTimestamp"]
            if last < until:
                tally.add(record.get("PartitionKey"), record["Data"])
        iterator = answer.get("NextShardIterator")
        if iterator is None or not answer.get("MillisBehindLatest", 0) or last >= until:
            last = until
            break
        if tally.records >= ROWS and last - since >= _LEAST:  # less shows no rate per second
            break
        sleep(pause_after(answer["Records"], SHARE))
    return tally.load(max(1.0, (min(last, until) - since).total_seconds()))


class _Tally:
    """Counts records of a shard by hash key."""

    def __init__(self, shard: StreamShard) -> None:
        self._shard = shard
        self.records = self.bytes = self._rows = 0
        # Records, bytes and a partition key by hash key. A reader cannot see explicit hash keys:
        # a record whose key belongs to another shard has one.
        self._placed: dict[int, tuple[float, float, str]] = {}

    @property
    def limit(self) -> int:
        """The number of records to read at once: those of a second, as far as it is known."""
        if not self.records:
            return _LIMIT // 10
        return max(1, min(_LIMIT, int(READ_BYTES * SHARE * self.records / max(1, self.bytes))))

    def add(self, key: str | None, data: bytes) -> None:
        """Count a record, or the rows of an aggregated record."""
        size = len(data) + len((key or "").encode())
        self.records, self.bytes = self.records + 1, self.bytes + size
        found = parse(data)
        rows = (
            [UserRecord(key=key or "", hash_key=None, data=data)] if found is None else found.rows
        )
        self._rows += len(rows)
        weight = sum(len(it.data) + len(it.key) for it in rows) or 1
        for row in rows:
            place = self._place(row)
            if place is not None:
                records, length, first = self._placed.get(place, (0.0, 0.0, row.key))
                part = size * (len(row.data) + len(row.key)) / weight
                self._placed[place] = (records + 1 / len(rows), length + part, first)

    def _place(self, row: UserRecord) -> int | None:
        """Where a row goes after a split: to its own hash key, or to its explicit one."""
        places = [hash_key(row.key)] if row.key else []
        if row.hash_key is not None and row.hash_key.isdecimal():
            places.append(int(row.hash_key))
        first, last = self._shard.first_key, self._shard.last_key
        return next((it for it in places if first <= it <= last), None)

    def load(self, seconds: float) -> ShardLoad:
        """What was counted, in records that arrived within this time."""
        return ShardLoad(
            id=self._shard.id,
            first_key=self._shard.first_key,
            last_key=self._shard.last_key,
            peak=Rate(records=self.records / seconds, bytes=self.bytes / seconds),
            sampled=self._rows,
            atoms=tuple(self._atoms()) if self._rows >= LEAST_SAMPLE else (),
        )

    def _atoms(self) -> Iterator[Atom]:
        """The load by hash key. What has no place counts as even over the keys that have one."""
        records = sum(it[0] for it in self._placed.values())
        size = sum(it[1] for it in self._placed.values()) or 1
        for at, (count, length, key) in sorted(self._placed.items()):
            yield Atom(hash_key=at, records=count / records, bytes=length / size, key=key)


def hash_key(key: str) -> int:
    """The hash key of a partition key: its MD5, as a number."""
    return int.from_bytes(md5(key.encode(), usedforsecurity=False).digest(), "big")


def loads_of(
    metrics: Mapping[str, Series], samples: Mapping[StreamShard, ShardLoad]
) -> Iterator[ShardLoad]:
    """The load of each shard: that of the stream, divided like the sample, or the sample's."""
    records, size = metrics.get(RECORDS, _NONE), metrics.get(BYTES, _NONE)
    all_records = sum(it.peak.records for it in samples.values())
    all_bytes = sum(it.peak.bytes for it in samples.values())
    for shard, sample in samples.items():
        if not records.points:
            yield sample
            continue
        part = sample.peak.records / all_records if all_records else shard.share
        of_bytes = sample.peak.bytes / all_bytes if all_bytes else shard.share
        yield replace(sample, peak=Rate(records=records.peak * part, bytes=size.peak * of_bytes))
