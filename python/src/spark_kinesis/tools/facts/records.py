"""The records at a position of a shard: whether they are there, and which one is the first."""

from __future__ import annotations

import time
from collections.abc import Callable, Iterable, Mapping
from dataclasses import dataclass, replace
from datetime import datetime
from typing import TYPE_CHECKING, Any

from spark_kinesis._offsets import Progress, ShardOffset
from spark_kinesis._times import instant

if TYPE_CHECKING:
    from mypy_boto3_kinesis import KinesisClient

    from .streams import StreamShard

# What Kinesis allows per shard and second, by "Quotas and limits" of its developer guide. All
# applications that poll a shard share the reads.
MIB = 1024 * 1024
WRITE_RECORDS, WRITE_BYTES = 1000, MIB
READ_CALLS, READ_BYTES = 5, 2 * MIB
THROTTLED = "ProvisionedThroughputExceededException"
"""The service's name of the error if a shard refuses a call because of its quota."""

MAX_PAGES = 60
"""A page may be empty. After so many, the search ends without an answer."""

_SHARE = 4 / 5  # of the read quota of a shard: others read it, too


def pause_after(records: Iterable[Mapping[str, Any]], share: float) -> float:
    """Seconds from a call of ``GetRecords`` to the next one of the same shard."""
    size = sum(len(it["Data"]) for it in records)
    return max(1 / READ_CALLS, size / READ_BYTES) / share


def iterator_request(offset: ShardOffset) -> dict[str, Any]:
    """The arguments of ``GetShardIterator`` for the first record that is not read yet."""
    if offset.progress is Progress.FINISHED:
        raise ValueError("a finished shard has no next record")
    if offset.progress is Progress.TRIM_HORIZON:
        return {"ShardIteratorType": "TRIM_HORIZON"}
    if offset.progress is Progress.AT:
        return {"ShardIteratorType": "AT_TIMESTAMP", "Timestamp": offset.time}
    kind = "AT" if offset.progress is Progress.FROM else "AFTER"
    return {
        "ShardIteratorType": f"{kind}_SEQUENCE_NUMBER",
        "StartingSequenceNumber": str(offset.sequence_number),
    }


@dataclass(frozen=True, kw_only=True)
class StreamRecord:
    """A record as ``GetRecords`` returns it. It may be an aggregated one."""

    sequence_number: int
    arrived: datetime
    data: bytes


@dataclass(frozen=True, kw_only=True)
class Around:
    """The records around a position of a shard."""

    named: StreamRecord | None = None  # the record that the position names, if it is there
    is_missing: bool = False  # whether the position names a record, and none was found
    first: StreamRecord | None = None  # the first record that is read from the position on
    is_complete: bool = True  # whether the search has found it, or reached the newest record

    @property
    def first_text(self) -> str:
        """The first record for people."""
        if self.first is None:
            return "none yet" if self.is_complete else "not found"
        return f"{self.first.sequence_number}, which arrived at {instant(self.first.arrived)}"


def around(
    client: KinesisClient,
    arn: str,
    shard: StreamShard,
    offset: ShardOffset,
    *,
    sleep: Callable[[float], None] = time.sleep,
) -> Around:
    """Read the records around a position of a shard that is not finished.

    The first number of a shard need not belong to a record. Without such a record, a position there
    is the beginning of the shard, and names no record. The last number of a closed shard may belong
    to none, too.
    """
    number, is_after = offset.sequence_number, offset.progress is Progress.AFTER
    if is_after and number == shard.ending:
        return Around()
    begin = replace(offset, progress=Progress.FROM) if is_after else offset
    count = 2 if is_after else 1
    records, is_complete = _first(client, arn, shard.id, begin, count=count, sleep=sleep)
    first = records[0] if records else None
    if number is None or first is None or first.sequence_number != number:
        is_missing = number is not None and number != shard.starting
        return Around(is_missing=is_missing, first=first, is_complete=is_complete)
    after = records[1] if len(records) > 1 else None
    return Around(named=first, first=after if is_after else first, is_complete=is_complete)


def _first(
    client: KinesisClient,
    arn: str,
    shard: str,
    offset: ShardOffset,
    *,
    count: int,
    sleep: Callable[[float], None],
) -> tuple[list[StreamRecord], bool]:
    """The first records from a position on, and whether the search has reached its end."""
    request = iterator_request(offset)
    answer = client.get_shard_iterator(StreamARN=arn, ShardId=shard, **request)
    iterator: str | None = answer["ShardIterator"]
    found: list[StreamRecord] = []
    for page in range(MAX_PAGES):
        if page:
            sleep(pause_after((), _SHARE))
        if iterator is None:
            return found, True
        got = client.get_records(ShardIterator=iterator, Limit=count - len(found), StreamARN=arn)
        found += [
            StreamRecord(
                sequence_number=int(it["SequenceNumber"]),
                arrived=it["ApproximateArrivalTimestamp"],
                data=it["Data"],
            )
            for it in got["Records"]
        ]
        iterator = got.get("NextShardIterator")
        if len(found) == count or got.get("MillisBehindLatest", 0) == 0:
            return found, True
    return found, False
