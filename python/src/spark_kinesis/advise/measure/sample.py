"""Reads a few records of a shard, at a bounded rate."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from datetime import datetime, timedelta
from typing import TYPE_CHECKING

from spark_kinesis.tools.facts.records import READ_BYTES, THROTTLED, pause_after

from .tally import ShardSample, Tally

if TYPE_CHECKING:
    from mypy_boto3_kinesis import KinesisClient
    from mypy_boto3_kinesis.type_defs import GetRecordsOutputTypeDef, RecordTypeDef

    from spark_kinesis.tools.facts.streams import StreamShard

SHARE = 1 / 5  # of the read quota of a shard
SPOTS = 4  # parts of the time, because the keys of one second may not be those of the next
# Enough for a second of a full shard: 1,000 records, or 1 MiB at 0.4 MiB per call.
_CALLS_PER_SPOT = 4
_FIRST_LIMIT, _LARGEST_LIMIT = 100, 1000
_LEAST_SECONDS = 1.0  # records of less time do not show a rate per second


@dataclass(frozen=True, kw_only=True, slots=True)
class Window:
    """What to read.

    Attributes:
        since: arrival time from which on records count.
        span: how long.
        rows: number of records that is enough, if they arrived in a second per spot at least.
    """

    since: datetime
    span: timedelta
    rows: int


def read_sample(
    client: KinesisClient,
    arn: str,
    shard: StreamShard,
    window: Window,
    sleep: Callable[[float], None],
) -> ShardSample:
    """Sample a shard at four spots of the window.

    It makes at most one call and reads 0.4 MiB per second, on average, and at most 16 calls. If
    other readers use up the quota of the shard, it ends with what it has.

    Args:
        client: client of Kinesis.
        arn: ARN of the stream.
        shard: the shard.
        window: what to read.
        sleep: waits for a number of seconds.

    Raises:
        botocore.exceptions.ClientError: if a call fails for another reason.
    """
    from botocore.exceptions import ClientError  # noqa: PLC0415 optional

    tally, part, seconds = Tally(shard), window.span / SPOTS, 0.0
    reading = _Reading(client, arn, tally, sleep)
    for spot in range(SPOTS):
        rows = (window.rows - tally.records) // (SPOTS - spot)  # of an idle spot, the others get it
        try:
            seconds += reading.read(window.since + part * spot, part, rows)
        except ClientError as error:
            if error.response["Error"]["Code"] != THROTTLED:
                raise
            return tally.sample(seconds, refused=True)
    return tally.sample(seconds)


class _Reading:
    """Reads from one time to another, with a pause between two calls."""

    def __init__(
        self, client: KinesisClient, arn: str, tally: Tally, sleep: Callable[[float], None]
    ) -> None:
        self._client = client
        self._arn = arn
        self._tally = tally
        self._sleep = sleep
        self._pause = 0.0

    def read(self, begin: datetime, part: timedelta, rows: int) -> float:
        """Count what arrived within a time. Returns the seconds of it that were read."""
        iterator: str | None = self._client.get_shard_iterator(
            StreamARN=self._arn,
            ShardId=self._tally.shard_id,
            ShardIteratorType="AT_TIMESTAMP",
            Timestamp=begin,
        )["ShardIterator"]
        enough, seconds = self._tally.records + rows, 0.0
        for _ in range(_CALLS_PER_SPOT):
            answer = self._records(iterator or "", enough - self._tally.records)
            last = self._count(answer["Records"], begin + part)
            iterator = answer.get("NextShardIterator")
            is_tip = iterator is None or not answer.get("MillisBehindLatest", 0)
            if is_tip or (last is not None and last >= begin + part):
                return part.total_seconds()
            if last is not None:
                seconds = (last - begin).total_seconds()
            if self._tally.records >= enough and seconds >= _LEAST_SECONDS:
                break
        return max(_LEAST_SECONDS, seconds)

    def _records(self, iterator: str, wanted: int) -> GetRecordsOutputTypeDef:
        if self._pause:
            self._sleep(self._pause)
        limit = self._limit() if wanted <= 0 else min(self._limit(), wanted)
        answer = self._client.get_records(ShardIterator=iterator, Limit=limit, StreamARN=self._arn)
        self._pause = pause_after(answer["Records"], SHARE)
        return answer

    def _count(self, found: Sequence[RecordTypeDef], end: datetime) -> datetime | None:
        """Count the records before a time. Returns when the last one that was seen arrived."""
        last = None
        for record in found:
            last = record["ApproximateArrivalTimestamp"]
            if last >= end:
                break
            self._tally.add(record.get("PartitionKey"), record["Data"])
        return last

    def _limit(self) -> int:
        """The number of records of a second's bytes, as far as their size is known."""
        tally = self._tally
        if not tally.records:
            return _FIRST_LIMIT
        fitting = int(READ_BYTES * SHARE * tally.records / max(1, tally.bytes))
        return max(1, min(_LARGEST_LIMIT, fitting))
