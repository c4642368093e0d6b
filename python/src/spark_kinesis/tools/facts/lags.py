"""How far a query is behind in a shard, by what reads at its positions have found."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from datetime import datetime, timedelta
from typing import TYPE_CHECKING, Any

from spark_kinesis._boto import aws_errors
from spark_kinesis._offsets import Progress, ShardOffset
from spark_kinesis._times import utc_now

from .records import iterator_request
from .streams import Advance, ask_each, ignore

if TYPE_CHECKING:
    from mypy_boto3_kinesis import KinesisClient
    from mypy_boto3_kinesis.type_defs import GetRecordsOutputTypeDef

_NONE = timedelta()


@dataclass(frozen=True, kw_only=True)
class Probe:
    """What one read at a position found.

    Attributes:
        behind: time from the last record that the read returned, or from the position if it
            returned none, to the newest record of the shard.
    """

    at: datetime  # time of the service at which it read
    position: ShardOffset  # where it began to read
    behind: timedelta
    arrived: datetime | None  # arrival time of the first record, if one was returned
    sequence_number: int | None  # that of the first record
    is_end: bool  # whether the shard is closed, and has no more records
    last_arrived: datetime | None = None  # arrival time of the last record
    records: int = 0  # number of Kinesis records
    size: int = 0  # bytes of their data

    @property
    def is_whole(self) -> bool:
        """Whether it returned all records after the position."""
        return not self.behind


def probe(
    client: KinesisClient,
    arn: str,
    shard: str,
    position: ShardOffset,
    *,
    limit: int = 1,
    now: Callable[[], datetime] = utc_now,
) -> Probe:
    """Read a few records after a position. It is one of the five reads per second of the shard."""
    answer: GetRecordsOutputTypeDef | dict[str, Any] = {"Records": []}  # of a finished shard
    if position.progress is not Progress.FINISHED:
        request = iterator_request(position)
        found = client.get_shard_iterator(StreamARN=arn, ShardId=shard, **request)
        answer = client.get_records(
            ShardIterator=found["ShardIterator"], Limit=limit, StreamARN=arn
        )
    records = answer["Records"]
    first = next(iter(records), None)
    return Probe(
        at=now(),
        position=position,
        behind=timedelta(milliseconds=answer.get("MillisBehindLatest", 0)),
        arrived=first["ApproximateArrivalTimestamp"] if first else None,
        sequence_number=int(first["SequenceNumber"]) if first else None,
        is_end=answer.get("NextShardIterator") is None and first is None,
        last_arrived=records[-1]["ApproximateArrivalTimestamp"] if records else None,
        records=len(records),
        size=sum(len(it["Data"]) for it in records),
    )


def probe_each(
    client: KinesisClient,
    arn: str,
    places: Sequence[tuple[str, ShardOffset]],
    now: Callable[[], datetime],
    advance: Advance = ignore,
) -> list[Probe | Exception]:
    """Read a record after each position, ten at once. An error of boto3 is a result, too."""
    errors = aws_errors()

    def ask(place: tuple[str, ShardOffset]) -> Probe | Exception:
        try:
            return probe(client, arn, *place, now=now)
        except errors as error:
            return error

    return ask_each(ask, places, advance)


def latest_at(position: ShardOffset, probes: Sequence[Probe]) -> Probe | None:
    """The last probe, if it was at this position."""
    last = probes[-1] if probes else None
    return last if last is not None and last.position.place == position.place else None


def lag(position: ShardOffset | None, probes: Sequence[Probe], now: datetime) -> timedelta | None:
    """The time since the first record arrived that the query has not processed.

    It is zero if the last probe was at the position and found no such record, and else the age of
    the record that it found. Without such a probe, it is an upper limit. ``None`` if nothing is
    known.

    Args:
        position: how far the query has processed the shard. ``None`` if unknown.
        probes: what reads at this and at earlier positions have found, oldest first.
        now: time of the service.
    """
    if position is None:
        return None
    last = latest_at(position, probes)
    if position.progress is Progress.FINISHED or (
        last is not None and last.is_whole and last.arrived is None
    ):
        return _NONE
    if last is not None and last.arrived is not None:
        return max(last.behind, now - last.arrived)  # the service's time may be rounded down
    # Before these times, no record is unread.
    known = [
        it.at - it.behind if it.arrived is None else it.arrived
        for it in probes
        if not _is_after(it.position, position)
    ]
    if position.complete_until is not None:
        known.append(position.complete_until)
    return max(_NONE, now - max(known)) if known else None


def _is_after(first: ShardOffset, second: ShardOffset) -> bool:
    """Whether a position comes after another: then the query was rewound in between."""
    if first.sequence_number is None:
        return False
    return second.sequence_number is None or first.sequence_number > second.sequence_number
