"""Counts the Kinesis records between two positions of a shard."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
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
    """

    records: int
    bytes: int


def count(client: KinesisClient, read: ShardRead, sleep: Callable[[float], None]) -> Count:
    """Read a part of a shard again, slowly, and count.

    Args:
        client: client of Kinesis.
        read: the part.
        sleep: waits for a number of seconds.

    Raises:
        ValueError: if the end is not one of a micro-batch.
        botocore.exceptions.ClientError: if the records have expired, or access is denied.
    """
    if read.end.progress not in (Progress.AFTER, Progress.FINISHED):
        raise ValueError(f"{read.end.text} is not the end of a micro-batch")
    request = iterator_request(read.start)
    asked = client.get_shard_iterator(StreamARN=read.stream, ShardId=read.shard, **request)
    iterator: str | None = asked["ShardIterator"]
    records = size = 0
    while iterator:
        answer = client.get_records(
            ShardIterator=iterator, Limit=MAX_RECORDS, StreamARN=read.stream
        )
        sizes, is_end = _page(answer, read)
        records, size = records + len(sizes), size + sum(sizes)
        iterator = None if is_end else answer.get("NextShardIterator")
        if iterator:
            sleep(pause_after(answer["Records"], SHARE))
    return Count(records, size)


def _page(answer: GetRecordsOutputTypeDef, read: ShardRead) -> tuple[list[int], bool]:
    """The sizes of the records of a page that belong to the part, and whether it ends there."""
    found = [(int(it["SequenceNumber"]), len(it["Data"])) for it in answer["Records"]]
    last = read.end.sequence_number
    if read.end.progress is not Progress.AFTER or last is None:
        return [size for _, size in found], False
    inside = [size for number, size in found if number <= last]
    is_behind = not found and not answer.get("MillisBehindLatest", 0)
    return inside, len(inside) < len(found) or is_behind or bool(found and found[-1][0] >= last)
