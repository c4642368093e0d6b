"""Counts the Kinesis records between two positions of a shard."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from datetime import datetime
from typing import TYPE_CHECKING

from spark_kinesis.checkpoint import Progress
from spark_kinesis.stream.quotas import pause_after
from spark_kinesis.stream.reading import iterator_request

if TYPE_CHECKING:
    from mypy_boto3_kinesis import KinesisClient
    from mypy_boto3_kinesis.type_defs import GetRecordsOutputTypeDef

    from .history import ShardRead

SHARE = 2 / 5  # of the read quota of a shard
MAX_RECORDS = 2_000


@dataclass(frozen=True)
class Count:
    """What lies between two positions.

    Attributes:
        records: number of Kinesis records. An aggregated record counts once.
        bytes: bytes of their data.
        is_complete: whether these are all. If not, some have expired, or may have.
    """

    records: int
    bytes: int
    is_complete: bool = True


def count(
    client: KinesisClient,
    read: ShardRead,
    sleep: Callable[[float], None],
    horizon: Callable[[], datetime],
) -> Count:
    """Read a part of a shard again, slowly, and count.

    Args:
        client: client of Kinesis.
        read: the part.
        sleep: waits for a number of seconds.
        horizon: returns the time of arrival before which records of the stream have expired.

    Raises:
        ValueError: if the end is not one of a micro-batch.
        botocore.exceptions.ClientError: if a call fails, such as without permission.
    """
    if read.end.progress not in (Progress.AFTER, Progress.FINISHED):
        raise ValueError(f"{read.end.text} is not the end of a micro-batch")
    iterator = _begin(client, read)
    first = last = None
    records = size = 0
    while iterator:
        answer = client.get_records(
            ShardIterator=iterator, Limit=MAX_RECORDS, StreamARN=read.stream
        )
        inside, is_end = _page(answer, read)
        if inside:
            first, last = inside[0][0] if first is None else first, inside[-1][0]
        records, size = records + len(inside), size + sum(it for _, it in inside)
        iterator = None if is_end else answer.get("NextShardIterator")
        if iterator:
            sleep(pause_after(answer["Records"], SHARE))
    return Count(records, size, _is_complete(read, first, last, horizon()))


def _begin(client: KinesisClient, read: ShardRead) -> str | None:
    """The iterator at the start. ``None`` if the shard has expired with all its records."""
    from botocore.exceptions import ClientError  # noqa: PLC0415 optional

    request = iterator_request(read.start)
    try:
        asked = client.get_shard_iterator(StreamARN=read.stream, ShardId=read.shard, **request)
    except ClientError as error:
        if error.response["Error"]["Code"] != "ResourceNotFoundException":
            raise
        return None
    return asked["ShardIterator"]


def _page(answer: GetRecordsOutputTypeDef, read: ShardRead) -> tuple[list[tuple[int, int]], bool]:
    """Numbers and sizes of the records of a page in the part, and whether the part ends there."""
    found = [(int(it["SequenceNumber"]), len(it["Data"])) for it in answer["Records"]]
    last = read.end.sequence_number
    if read.end.progress is not Progress.AFTER or last is None:
        return found, False
    inside = [it for it in found if it[0] <= last]
    is_behind = not found and not answer.get("MillisBehindLatest", 0)
    return inside, len(inside) < len(found) or is_behind or bool(found and found[-1][0] >= last)


def _is_complete(read: ShardRead, first: int | None, last: int | None, horizon: datetime) -> bool:
    """Whether a part still has the records with which it began and ended.

    The oldest records expire first. If the first record of the part is unknown, all of them arrived
    after the time up to which the shard had been read before.
    """
    start, end = read.start, read.end
    if end.progress is Progress.AFTER and last != end.sequence_number:
        return False
    if end.first is not None:
        return first == end.first
    if start.progress is not Progress.AFTER and last is None:
        return True  # The micro-batch was the first to read the shard, and it was empty.
    return start.complete_until is not None and start.complete_until > horizon
