"""The records at a position of a shard: whether they are there, and which one is the first."""

from __future__ import annotations

import time
from collections.abc import Callable, Iterable, Mapping
from dataclasses import dataclass, replace
from datetime import datetime
from enum import Enum
from typing import TYPE_CHECKING, Any

from spark_kinesis._offsets import Progress, ShardOffset

if TYPE_CHECKING:
    from mypy_boto3_kinesis import KinesisClient
    from mypy_boto3_kinesis.type_defs import RecordTypeDef

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
    """The arguments of ``GetShardIterator`` for the first record that is not read yet.

    Raises:
        ValueError: for a finished shard, which has no such record.
    """
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
    """A record as ``GetRecords`` returns it. An aggregate is not unpacked."""

    sequence_number: int
    arrived: datetime
    key: str
    data: bytes


@dataclass(frozen=True, kw_only=True)
class FirstRecords:
    """What a search found.

    Attributes:
        is_complete: whether there are no others: the search reached the newest record or the end of
            the shard, or found as many as it was asked for. If false, it ended without an answer.
    """

    records: tuple[StreamRecord, ...]  # the first records after the position, in order
    is_complete: bool

    @property
    def first(self) -> StreamRecord | None:
        """The first record."""
        return next(iter(self.records), None)


def first_records(
    client: KinesisClient,
    arn: str,
    shard: str,
    offset: ShardOffset,
    *,
    count: int,
    sleep: Callable[[float], None] = time.sleep,
) -> FirstRecords:
    """Read the first records after a position of a shard that is not finished.

    Each page is one of the shard's five reads per second.

    Raises:
        botocore.exceptions.ClientError: ``ResourceNotFoundException`` if the shard has expired,
            ``InvalidArgumentException`` if the position is not in the shard.
    """
    request = iterator_request(offset)
    answer = client.get_shard_iterator(StreamARN=arn, ShardId=shard, **request)
    iterator: str | None = answer["ShardIterator"]
    found: list[StreamRecord] = []
    for page in range(MAX_PAGES):
        if page:
            sleep(pause_after((), _SHARE))
        if iterator is None:
            return FirstRecords(records=tuple(found), is_complete=True)
        got = client.get_records(ShardIterator=iterator, Limit=count - len(found), StreamARN=arn)
        found += [_record(it) for it in got["Records"]]
        iterator = got.get("NextShardIterator")
        if len(found) == count or got.get("MillisBehindLatest", 0) == 0:
            return FirstRecords(records=tuple(found), is_complete=True)
    return FirstRecords(records=tuple(found), is_complete=False)


def _record(it: RecordTypeDef) -> StreamRecord:
    return StreamRecord(
        sequence_number=int(it["SequenceNumber"]),
        arrived=it["ApproximateArrivalTimestamp"],
        key=it["PartitionKey"],
        data=it["Data"],
    )


class Anchor(Enum):
    """Whether the record that a position names is there.

    ``NONE``: the position names no record. ``THERE``: it is there, and so are all later records.
    ``GONE``: records after it may have expired, too. ``UNKNOWN``: the search ended too early.
    """

    NONE = "none"
    THERE = "there"
    GONE = "gone"
    UNKNOWN = "unknown"


@dataclass(frozen=True, kw_only=True)
class Surroundings:
    """The records around a position."""

    anchor: Anchor  # whether the record that the position names is there
    named: StreamRecord | None  # this record, if it is there
    unread: FirstRecords  # the first record that is read from the position on


def surroundings(
    client: KinesisClient,
    arn: str,
    shard: StreamShard,
    offset: ShardOffset,
    *,
    sleep: Callable[[float], None] = time.sleep,
) -> Surroundings:
    """Read the records around a position of a shard that is not finished."""
    if is_end(shard, offset):  # the number need not belong to a record
        nothing = FirstRecords(records=(), is_complete=True)
        return Surroundings(anchor=Anchor.NONE, named=None, unread=nothing)
    is_after = offset.progress is Progress.AFTER
    begin = replace(offset, progress=Progress.FROM) if is_after else offset
    found = first_records(client, arn, shard.id, begin, count=2 if is_after else 1, sleep=sleep)
    return around(shard, offset, found)


def around(shard: StreamShard, offset: ShardOffset, found: FirstRecords) -> Surroundings:
    """What the first records from a position on show.

    The first number of a shard need not belong to a record. Without such a record, a position there
    is the beginning of the shard, and shows no loss.
    """
    first, number = found.first, offset.sequence_number
    if number is not None and first is not None and first.sequence_number == number:
        rest = found.records[1:] if offset.progress is Progress.AFTER else found.records[:1]
        unread = replace(found, records=rest)
        return Surroundings(anchor=Anchor.THERE, named=first, unread=unread)
    if number is None or number == shard.starting or is_end(shard, offset):
        state = Anchor.NONE
    else:
        state = Anchor.GONE if found.records or found.is_complete else Anchor.UNKNOWN
    return Surroundings(anchor=state, named=None, unread=replace(found, records=found.records[:1]))


def is_end(shard: StreamShard, offset: ShardOffset) -> bool:
    """Whether a position is the last one of a closed shard."""
    return offset.progress is Progress.AFTER and offset.sequence_number == shard.ending
