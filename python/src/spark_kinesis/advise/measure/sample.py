"""Reads a few records of a shard, at a bounded rate."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from datetime import datetime, timedelta
from typing import TYPE_CHECKING

from spark_kinesis.stream.quotas import READ_BYTES, THROTTLED, pause_after

from .tally import ShardSample, Tally

if TYPE_CHECKING:
    from mypy_boto3_kinesis import KinesisClient

    from spark_kinesis.stream import StreamShard

SHARE = 1 / 5  # of the read quota of a shard
SPOTS = 4  # parts of the time, because the keys of one second may not be those of the next
_CALLS_PER_SPOT = 4
_FIRST_LIMIT, _LARGEST_LIMIT = 100, 1000


@dataclass(frozen=True, kw_only=True, slots=True)
class Window:
    """What to read.

    Attributes:
        since: arrival time from which on records count.
        span: how long.
        rows: number of records that is enough.
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

    It makes at most one call and reads 0.4 MiB per second, on average. If other readers use up the
    quota of the shard, it ends with what it has.

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
    for spot in range(SPOTS):
        reading = _Spot(client, arn, tally, sleep)
        rows = (window.rows - tally.records) // (SPOTS - spot)  # of an idle spot, the others get it
        try:
            seconds += reading.read(window.since + part * spot, part, rows)
        except ClientError as error:
            if error.response["Error"]["Code"] != THROTTLED:
                raise
            return tally.sample(seconds, refused=True)
    return tally.sample(seconds)


class _Spot:
    """Reads from one time to another."""

    def __init__(
        self, client: KinesisClient, arn: str, tally: Tally, sleep: Callable[[float], None]
    ) -> None:
        self._client = client
        self._arn = arn
        self._tally = tally
        self._sleep = sleep

    def read(self, begin: datetime, part: timedelta, rows: int) -> float:
        """Count what arrived within a time. Returns the seconds of it that were read."""
        iterator: str | None = self._client.get_shard_iterator(
            StreamARN=self._arn,
            ShardId=self._tally.shard_id,
            ShardIteratorType="AT_TIMESTAMP",
            Timestamp=begin,
        )["ShardIterator"]
        counted, last = self._tally.records, begin
        for _ in range(_CALLS_PER_SPOT):
            answer = self._client.get_records(
                ShardIterator=iterator or "",
                Limit=min(self._limit(), max(1, rows - self._tally.records + counted)),
                StreamARN=self._arn,
            )
            found = answer["Records"]
            for record in found:
                last = record["ApproximateArrivalTimestamp"]
                if last >= begin + part:
                    break
                self._tally.add(record.get("PartitionKey"), record["Data"])
            iterator = answer.get("NextShardIterator")
            self._sleep(pause_after(found, SHARE))
            is_tip = iterator is None or not answer.get("MillisBehindLatest", 0)
            if last >= begin + part or is_tip:
                return part.total_seconds()
            if self._tally.records - counted >= rows:
                break
        # Records of less than a second say nothing of a rate per second.
        return max(1.0, (last - begin).total_seconds())

    def _limit(self) -> int:
        """The number of records of a second's bytes, as far as their size is known."""
        tally = self._tally
        if not tally.records:
            return _FIRST_LIMIT
        fitting = int(READ_BYTES * SHARE * tally.records / max(1, tally.bytes))
        return max(1, min(_LARGEST_LIMIT, fitting))
