"""The first records after a position."""

from __future__ import annotations

import time
from collections.abc import Callable
from dataclasses import dataclass
from datetime import datetime
from typing import TYPE_CHECKING

from .quotas import pause_after
from .reading import iterator_request

if TYPE_CHECKING:
    from mypy_boto3_kinesis import KinesisClient
    from mypy_boto3_kinesis.type_defs import RecordTypeDef

    from spark_kinesis.checkpoint import ShardOffset

MAX_PAGES = 60
"""A page may be empty. After so many, the search ends without an answer."""

_SHARE = 4 / 5  # of the read quota of a shard: others read it, too


@dataclass(frozen=True, kw_only=True)
class StreamRecord:
    """A record as ``GetRecords`` returns it.

    Attributes:
        sequence_number: its sequence number.
        arrived: when it arrived, by the service's clock.
        key: partition key.
        data: its bytes. An aggregate is not unpacked.
    """

    sequence_number: int
    arrived: datetime
    key: str
    data: bytes


@dataclass(frozen=True, kw_only=True)
class FirstRecords:
    """What a search found.

    Attributes:
        records: the first records after the position, in order.
        is_complete: whether there are no others: the search reached the newest record or the end of
            the shard, or found as many as it was asked for. If false, it ended without an answer.
    """

    records: tuple[StreamRecord, ...]
    is_complete: bool


def first_records(
    client: KinesisClient,
    arn: str,
    shard: str,
    offset: ShardOffset,
    *,
    count: int,
    sleep: Callable[[float], None] = time.sleep,
) -> FirstRecords:
    """Read the first records after a position. Each page is one of the shard's five reads a second.

    Args:
        client: client of Kinesis.
        arn: ARN of the stream.
        shard: ID of the shard.
        offset: the position, in a shard that is not finished.
        count: number of records, from 1 to 10,000.
        sleep: waits a number of seconds between two pages.

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
