"""Measures the load of each shard: metrics of CloudWatch, and a sample of records.

Changes nothing.
"""

from __future__ import annotations

import time
from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from datetime import datetime, timedelta
from hashlib import md5
from typing import TYPE_CHECKING, Any

from spark_kinesis._boto import aws_errors, code_of
from spark_kinesis._errors import CheckpointError
from spark_kinesis._offsets import Progress
from spark_kinesis._times import duration_text, utc_now
from spark_kinesis.tools.facts.aggregates import UserRecord, parse
from spark_kinesis.tools.facts.checkpoints import Checkpoint, next_positions
from spark_kinesis.tools.facts.cloudwatch import Query, Series, read_metrics
from spark_kinesis.tools.facts.lags import lag, probe_each
from spark_kinesis.tools.facts.records import READ_BYTES, THROTTLED, pause_after
from spark_kinesis.tools.facts.streams import Advance, ask_each, list_shards, named

from .layout import LEAST_SAMPLE, Atom, Rate, ShardLoad

if TYPE_CHECKING:
    from mypy_boto3_kinesis import KinesisClient

    from spark_kinesis.tools.facts.streams import StreamShard, StreamSummary

SHARE = 1 / 5  # of the read quota of a shard
_CALLS = 16
_LIMIT = 1000
_LEAST = timedelta(seconds=1)
RECORDS, BYTES = Query("IncomingRecords"), Query("IncomingBytes")
REFUSED = Query("WriteProvisionedThroughputExceeded")
# A shard with metrics of fewer minutes may be new, after a split or a merge.
_NEW_POINTS = 5
# A shard that uses this part of its quota hides how much more its producers want to write.
FULL = 0.9
_LARGEST_DEMAND = 2.0  # refused records are counted again at each retry
_NONE = Series()


@dataclass(frozen=True, kw_only=True, slots=True)
class Sample:
    """What was read from a shard.

    Attributes:
        rate: records and bytes per second.
        rows: number of user records.
        atoms: the load by hash key; empty if there are too few rows to say.
        is_short: whether reading ended early because the shard refused reads.
    """

    rate: Rate
    rows: int
    atoms: tuple[Atom, ...]
    is_short: bool


@dataclass(frozen=True, kw_only=True, slots=True)
class Measured:
    """What was measured.

    Attributes:
        loads: the load of each open shard.
        notes: how the figures were found, and what they do not show.
    """

    loads: tuple[ShardLoad, ...]
    notes: tuple[str, ...]


def measure(
    kinesis: KinesisClient,
    cloudwatch: Any | None,
    summary: StreamSummary,
    *,
    window: timedelta,
    sample: timedelta,
    rows: int,
    advance: Advance,
) -> Measured:
    """Measure a stream.

    Args:
        kinesis: client of Kinesis.
        cloudwatch: client of CloudWatch; ``None`` to use the sample alone.
        summary: the stream.
        window: time that the metrics cover.
        sample: time in which sampled records arrived.
        rows: number of records to sample per shard.
        advance: called with the number of shards that are sampled, and with that of all shards.

    Raises:
        botocore.exceptions.ClientError: if a call of Kinesis fails.
    """
    # The clock of the service, rounded down, also gives records their arrival times.
    now = utc_now() if summary.server_time is None else summary.server_time + timedelta(seconds=1)
    shards = [it for it in list_shards(kinesis, summary.arn) if it.is_open]
    begin = max(now - window, summary.created)
    metrics, refusal = _metrics(cloudwatch, summary, shards, begin, now)

    def read(shard: StreamShard) -> Sample:
        return read_sample(kinesis, summary.arn, shard, since=now - sample, until=now, rows=rows)

    samples = dict(zip(shards, ask_each(read, shards, advance), strict=True))
    loads = [_load(metrics, shard, samples) for shard in shards]
    notes = (*refusal, _source(metrics, samples, now - begin), *_notes(loads, samples))
    return Measured(loads=tuple(loads), notes=notes)


def read_sample(
    client: KinesisClient,
    arn: str,
    shard: StreamShard,
    *,
    since: datetime,
    until: datetime,
    rows: int,
    sleep: Callable[[float], None] = time.sleep,
) -> Sample:
    """Read records of a shard that arrived within a time, at most in 16 calls.

    It uses a fifth of the read quota of the shard. If other readers use up the quota, it ends with
    what it has.

    Args:
        client: client of Kinesis.
        arn: ARN of the stream.
        shard: the shard.
        since: first arrival time.
        until: arrival time after which records do not count.
        rows: number of records that is enough.
        sleep: waits for a number of seconds.

    Raises:
        botocore.exceptions.ClientError: if a call fails for another reason.
    """
    tally, last, is_short = _Tally(shard), until, False
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
            is_short = True
            break
        for record in answer["Records"]:
            last = record["ApproximateArrivalTimestamp"]
            if last < until:
                tally.add(record.get("PartitionKey"), record["Data"])
        iterator = answer.get("NextShardIterator")
        if iterator is None or not answer.get("MillisBehindLatest", 0) or last >= until:
            last = until
            break
        if tally.records >= rows and last - since >= _LEAST:  # less shows no rate per second
            break
        sleep(pause_after(answer["Records"], SHARE))
    seconds = max(1.0, (min(last, until) - since).total_seconds())
    return tally.sample(seconds, is_short=is_short)


class _Tally:
    """Counts records of a shard by hash key."""

    def __init__(self, shard: StreamShard) -> None:
        self._shard = shard
        self.records = self.bytes = self._rows = 0
        # Records, bytes and a partition key by hash key. A reader cannot see explicit hash keys:
        # a record whose key belongs to another shard has one.
        self._placed: dict[int, tuple[float, float, str]] = {}
        self._unplaced = (0.0, 0.0)

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
        if found is None:
            self._rows += 1
            self._count(None if key is None else self._own(hash_key(key)), key or "", 1, size)
            return
        self._rows += len(found.rows)
        weight = sum(len(it.data) + len(it.key) for it in found.rows) or 1
        for row in found.rows:
            part = (len(row.data) + len(row.key)) / weight
            self._count(self._place(row), row.key, 1 / len(found.rows), size * part)

    def sample(self, seconds: float, *, is_short: bool) -> Sample:
        """What was counted, in records that arrived within this time."""
        rate = Rate(records=self.records / seconds, bytes=self.bytes / seconds)
        atoms = tuple(self._atoms()) if self._rows >= LEAST_SAMPLE else ()
        return Sample(rate=rate, rows=self._rows, atoms=atoms, is_short=is_short)

    def _atoms(self) -> Iterator[Atom]:
        """The load by hash key. What has no place counts as even over the keys that have one."""
        records = self.records - self._unplaced[0]
        size = self.bytes - self._unplaced[1]
        for at, (count, length, key) in sorted(self._placed.items()):
            yield Atom(hash_key=at, records=count / records, bytes=length / size, key=key)

    def _place(self, row: UserRecord) -> int | None:
        """Where a row goes after a split: to its own hash key, or to its explicit one."""
        own = self._own(hash_key(row.key))
        if own is not None or row.hash_key is None or not row.hash_key.isdecimal():
            return own
        return self._own(int(row.hash_key))

    def _own(self, place: int) -> int | None:
        return place if self._shard.first_key <= place <= self._shard.last_key else None

    def _count(self, place: int | None, key: str, records: float, size: float) -> None:
        if place is None:
            self._unplaced = (self._unplaced[0] + records, self._unplaced[1] + size)
            return
        before = self._placed.get(place, (0.0, 0.0, key))
        self._placed[place] = (before[0] + records, before[1] + size, before[2])


def hash_key(key: str) -> int:
    """The hash key of a partition key: its MD5, as a number."""
    return int.from_bytes(md5(key.encode(), usedforsecurity=False).digest(), "big")


def lag_of(
    client: KinesisClient, checkpoint: Checkpoint, arn: str, now: datetime, advance: Advance
) -> str:
    """How far a query is behind, in a sentence: the age of the oldest record that it has not read.

    It reads one record per shard.

    Args:
        client: client of Kinesis.
        checkpoint: the checkpoint.
        arn: ARN of the stream.
        now: time of the service.
        advance: called with the number of shards that are read, and with that of all shards.

    Raises:
        CheckpointError: if the checkpoint has no position, or not this stream.
        botocore.exceptions.ClientError: if a call fails, except for a shard that cannot be read.
    """
    positions = next_positions(checkpoint).values()
    streams = [it.streams[arn] for it in positions if arn in it.streams]
    if not streams:
        raise CheckpointError(
            f"the query of the checkpoint {checkpoint.location} does not read {arn}"
        )
    places = [
        (shard, offset)
        for stream in streams
        for shard, offset in stream.shards.items()
        if offset.progress is not Progress.FINISHED
    ]
    known, unknown = [], []
    probes = probe_each(client, arn, places, lambda: now, advance)
    for (shard, position), it in zip(places, probes, strict=True):
        if not isinstance(it, Exception):
            known.append(lag(position, [it], now) or timedelta())
        elif code_of(it) in ("ResourceNotFoundException", THROTTLED):
            unknown.append(shard)
        else:
            raise it
    why = f"{named(unknown)}: all records there have expired, or other readers use up the quota."
    if unknown and not known:
        return f"It is unknown how far the query is behind in {why}"
    said = f"The query is {duration_text(max(known, default=timedelta()))} behind"
    return f"{said}, without {why}" if unknown else f"{said}."


def _metrics(
    client: Any | None,
    summary: StreamSummary,
    shards: Sequence[StreamShard],
    begin: datetime,
    end: datetime,
) -> tuple[Mapping[Query, Series], tuple[str, ...]]:
    """The metrics, and why there are none."""
    if client is None:
        return {}, ()
    queries = [RECORDS, BYTES]
    if {"IncomingBytes", "ALL"} & set(summary.shard_metrics):
        queries += [Query(it.metric, s.id) for s in shards for it in (RECORDS, BYTES, REFUSED)]
    try:
        return read_metrics(client, summary.name, queries, begin, end), ()
    except aws_errors() as error:
        return {}, (f"CloudWatch is not used: {error}",)


def _load(
    metrics: Mapping[Query, Series], shard: StreamShard, samples: Mapping[StreamShard, Sample]
) -> ShardLoad:
    """The load of a shard, from the best source that there is."""
    sample = samples[shard]
    refused = metrics.get(Query(REFUSED.metric, shard.id), _NONE).average
    records = metrics.get(Query(RECORDS.metric, shard.id), _NONE)
    size = metrics.get(Query(BYTES.metric, shard.id), _NONE)
    if records.points >= _NEW_POINTS:
        peak = Rate(records=records.peak, bytes=size.peak)
    elif metrics.get(RECORDS, _NONE).points and not _has_shards(metrics):
        total = Rate(
            records=sum(it.rate.records for it in samples.values()),
            bytes=sum(it.rate.bytes for it in samples.values()),
        )
        part = sample.rate.records / total.records if total.records else shard.share
        of_bytes = sample.rate.bytes / total.bytes if total.bytes else shard.share
        peak = Rate(records=metrics[RECORDS].peak * part, bytes=metrics[BYTES].peak * of_bytes)
    else:
        peak = sample.rate
    demand = 1.0
    if peak.used >= FULL and records.average:
        demand = min(_LARGEST_DEMAND, 1 + refused / records.average)
    return ShardLoad(
        id=shard.id,
        first_key=shard.first_key,
        last_key=shard.last_key,
        peak=Rate(records=peak.records * demand, bytes=peak.bytes * demand),
        throttled=refused,
        sampled=sample.rows,
        atoms=sample.atoms,
    )


def _has_shards(metrics: Mapping[Query, Series]) -> bool:
    return any(it.shard is not None and series.points for it, series in metrics.items())


def _source(
    metrics: Mapping[Query, Series], samples: Mapping[Any, Sample], window: timedelta
) -> str:
    rows = sum(it.rows for it in samples.values())
    if _has_shards(metrics):
        return f"Rates: CloudWatch per shard, {duration_text(window)}. Keys: {rows} sampled rows."
    if metrics.get(RECORDS, _NONE).points:
        return (
            f"Rates: CloudWatch for the whole stream, {duration_text(window)}, divided among the "
            f"shards like {rows} sampled rows. Enhanced (shard-level) metrics are more exact."
        )
    return f"Rates: {rows} sampled rows, without CloudWatch: they show no busier time."


def _notes(loads: Sequence[ShardLoad], samples: Mapping[StreamShard, Sample]) -> Iterator[str]:
    short = [shard.id for shard, it in samples.items() if it.is_short]
    if short:
        yield f"The sample is short: other readers use up the quota of {named(short)}."
    full = [it.id for it in loads if it.peak.used >= FULL]
    if full:
        yield (
            f"{named(full)}: full. Producers may want to write more than these accept. Ask again "
            "after the change."
        )
    even = [it.id for it in loads if it.peak.used >= FULL and not it.atoms]
    if even:
        yield (
            f"Fewer than {LEAST_SAMPLE} records were read from {named(even)}: these are cut as if "
            "their keys were even. Ask again with a longer --sample."
        )
