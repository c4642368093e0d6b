"""How far a query is behind in a shard, by what a read at its position has found."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from datetime import datetime, timedelta
from typing import TYPE_CHECKING

from spark_kinesis._boto import aws_errors
from spark_kinesis._offsets import Progress, ShardOffset

from .records import iterator_request
from .streams import ask_each

if TYPE_CHECKING:
    from mypy_boto3_kinesis import KinesisClient

_NONE = timedelta()


@dataclass(frozen=True, kw_only=True)
class Probe:
    """What a read of one record at a position found.

    Attributes:
        behind: time from the record that the read returned, or from the position if it returned
            none, to the newest record of the shard.
    """

    behind: timedelta
    arrived: datetime | None  # arrival time of the record, if one was returned


def probe(client: KinesisClient, arn: str, shard: str, position: ShardOffset) -> Probe:
    """Read a record after a position. It is one of the five reads per second of the shard."""
    if position.progress is Progress.FINISHED:
        return Probe(behind=_NONE, arrived=None)
    request = iterator_request(position)
    iterator = client.get_shard_iterator(StreamARN=arn, ShardId=shard, **request)["ShardIterator"]
    answer = client.get_records(ShardIterator=iterator, Limit=1, StreamARN=arn)
    return Probe(
        behind=timedelta(milliseconds=answer.get("MillisBehindLatest", 0)),
        arrived=next((it["ApproximateArrivalTimestamp"] for it in answer["Records"]), None),
    )


def probe_each(
    client: KinesisClient, arn: str, places: Sequence[tuple[str, ShardOffset]]
) -> list[Probe | Exception]:
    """Read a record after each position, ten at once. An error of boto3 is a result, too."""
    errors = aws_errors()

    def ask(place: tuple[str, ShardOffset]) -> Probe | Exception:
        try:
            return probe(client, arn, *place)
        except errors as error:
            return error

    return ask_each(ask, places)


def lag(position: ShardOffset, found: Probe | None, now: datetime) -> timedelta | None:
    """The time since the first record arrived that the query has not processed.

    It is the age of the record that a read at the position found, and zero if there is none.
    Without such a record, it is an upper limit. ``None`` if nothing is known.

    Args:
        position: how far the query has processed the shard.
        found: what the read found. ``None`` if it failed.
        now: time of the service.
    """
    if position.progress is Progress.FINISHED:
        return _NONE
    if found is not None and found.arrived is not None:
        return max(found.behind, now - found.arrived)  # the service's time may be rounded down
    limits = [] if found is None else [found.behind]
    if position.complete_until is not None:
        limits.append(now - position.complete_until)
    return max(_NONE, min(limits)) if limits else None
