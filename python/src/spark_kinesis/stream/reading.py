"""How far a position is behind the newest record of its shard."""

from __future__ import annotations

from dataclasses import dataclass
from datetime import datetime, timedelta
from typing import TYPE_CHECKING, Any

from spark_kinesis.checkpoint import Progress, ShardOffset

if TYPE_CHECKING:
    from mypy_boto3_kinesis import KinesisClient


@dataclass(frozen=True, kw_only=True)
class Probe:
    """What one read at a position found.

    Attributes:
        behind: time from the last record that the read returned, or from the position if it
            returned none, to the newest record of the shard.
        arrived: arrival time of the first record after the position. ``None`` if none was returned.
        sequence_number: its sequence number.
        last_arrived: arrival time of the last record that the read returned.
        records: number of Kinesis records that it returned.
        size: bytes of their data.
        is_end: whether the shard is closed, and has no more records.
    """

    behind: timedelta
    arrived: datetime | None
    sequence_number: int | None
    is_end: bool
    last_arrived: datetime | None = None
    records: int = 0
    size: int = 0

    def unread_since(self, at: datetime) -> datetime:
        """When the first record after the position arrived, as far as the read shows it.

        Args:
            at: time of the service at which it read.
        """
        return at - self.behind if self.arrived is None else self.arrived

    def age(self, now: datetime) -> timedelta:
        """The lag at the position: the age of the first record after it.

        ``behind`` does not contain the age of a record that the read itself returned. Without such
        a record, the lag is ``behind``.

        Args:
            now: time of the service. It may be rounded down, so the lag is never less than
                ``behind``.
        """
        return max(self.behind, now - self.unread_since(now))


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


def probe(
    client: KinesisClient, arn: str, shard: str, offset: ShardOffset, limit: int = 1
) -> Probe:
    """Read a few records after a position. It is one of the five reads per second of the shard.

    Args:
        client: client of Kinesis.
        arn: ARN of the stream.
        shard: ID of the shard.
        offset: the position. A finished shard is at its end without a call.
        limit: maximum number of records. Their bytes count towards the 2 MiB per second that may
            be read from the shard.

    Raises:
        botocore.exceptions.ClientError: ``ResourceNotFoundException`` if the shard has expired,
            ``ProvisionedThroughputExceededException`` if others use up the reads of the shard.
    """
    if offset.progress is Progress.FINISHED:
        return Probe(behind=timedelta(), arrived=None, sequence_number=None, is_end=True)
    request = iterator_request(offset)
    iterator = client.get_shard_iterator(StreamARN=arn, ShardId=shard, **request)["ShardIterator"]
    answer = client.get_records(ShardIterator=iterator, Limit=limit, StreamARN=arn)
    records = answer["Records"]
    first = next(iter(records), None)
    return Probe(
        behind=timedelta(milliseconds=answer.get("MillisBehindLatest", 0)),
        arrived=first["ApproximateArrivalTimestamp"] if first else None,
        sequence_number=int(first["SequenceNumber"]) if first else None,
        is_end=answer.get("NextShardIterator") is None and first is None,
        last_arrived=records[-1]["ApproximateArrivalTimestamp"] if records else None,
        records=len(records),
        size=sum(len(it["Data"]) for it in records),
    )
