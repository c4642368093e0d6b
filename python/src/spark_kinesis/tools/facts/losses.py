"""When records of a stream have expired, and what a position loses by it. Makes no calls.

The connector applies the same rule: a shard has lost nothing as long as the time up to which it was
read completely is within the retention period. See docs/adr/0006-completeness.md.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, replace
from datetime import datetime, timedelta, timezone
from email.utils import parsedate_to_datetime
from typing import TYPE_CHECKING

from spark_kinesis._errors import SparkKinesisError
from spark_kinesis._offsets import Progress, ShardOffset
from spark_kinesis._times import instant, utc_now

from .streams import UNKNOWN_CREATION

if TYPE_CHECKING:
    from .records import Around
    from .streams import StreamSummary

SHARD_EXPIRED = "the shard has expired with its unread records"
_LEASE_RESOLUTION = timedelta(seconds=1)
_CLOCK_RESOLUTION = timedelta(seconds=1)  # of the header


@dataclass(frozen=True, kw_only=True)
class StreamTimes:
    """The times of a stream, by the service's clock."""

    now: datetime  # the current time
    horizon: datetime  # records that arrived earlier have expired
    created: datetime  # when the stream was created. No record arrived earlier.

    @staticmethod
    def of(stream: StreamSummary) -> StreamTimes:
        """The times of a stream."""
        if stream.server_time is None:
            raise SparkKinesisError(f"stream {stream.arn}: the answers of Kinesis have no time")
        horizon = stream.server_time - stream.retention
        return StreamTimes(now=stream.server_time, horizon=horizon, created=stream.created)

    def has_expired(self, time: datetime) -> bool:
        """Whether records that arrived at a time or later may have expired."""
        return max(time, self.created) <= self.horizon


def at_time(time: datetime, times: StreamTimes, waits_for: tuple[str, ...] = ()) -> ShardOffset:
    """The offset that begins with the records that arrived at a time or later.

    It has no ``complete_as_of`` if some of these records may have expired: the query would fail.
    """
    return ShardOffset(
        progress=Progress.AT,
        time=instant(time),
        complete_as_of=None if times.has_expired(time) else max(time, times.created),
        waits_for=waits_for,
    )


def lost_at(offset: ShardOffset, retention: timedelta, unread: datetime | None) -> datetime | None:
    """When a restart begins to lose records after a position. ``None`` if unknown, or never.

    ``unread`` is when the first unread record arrived, if a read has shown it.
    """
    known = offset.complete_until
    if known is None and offset.progress in (Progress.AFTER, Progress.FROM):
        known = unread
    return None if known is None else known + retention


def loss_at(offset: ShardOffset, found: Around, times: StreamTimes) -> str | None:
    """Why records after a position may be missing, without a period. ``None`` if none is.

    The last record of a shard without traffic may have expired long ago, and the search for it may
    end without an answer. This is no loss if the consumer has looked for records since then.
    """
    number, read = offset.sequence_number, offset.complete_until
    if read is None and found.named is not None:
        read = found.named.arrived
    if found.is_missing and (read is None or offset.progress is Progress.FROM):
        if found.first is None and not found.is_complete:
            return f"no record was found from {number} on before the search ended: try again"
        return f"record {number} is gone, and unread records after it may have expired"
    if read is None or not times.has_expired(read):
        return None
    if offset.progress is Progress.AT and offset.complete_as_of is None:
        span = f"between {offset.time} and {instant(times.horizon)}"
        return f"records that arrived {span} may have expired"
    return (
        f"the shard was read up to {instant(read)}, and unread records that arrived before "
        f"{instant(times.horizon)} may have expired"
    )


def dated(offset: ShardOffset, found: Around, times: StreamTimes) -> ShardOffset:
    """A position with the time of the record that it names, if that has not expired."""
    if found.named is None or times.has_expired(found.named.arrived):
        return offset
    return replace(offset, complete_as_of=found.named.arrived)


def created_again(arn: str, created: datetime | None, recorded: datetime | None) -> str | None:
    """A sentence if positions belong to an earlier stream with the same name."""
    if created is None or recorded is None or UNKNOWN_CREATION in (created, recorded):
        return None
    if abs(created - recorded) < _LEASE_RESOLUTION:
        return None
    return (
        f"stream {arn} was created at {instant(created)}, and the positions belong to one created "
        f"at {instant(recorded)}: it was deleted and created again."
    )


def clock_lead(headers: Mapping[str, str]) -> timedelta | None:
    """How far the clock of the service is ahead of ours, by an answer that just came.

    ``None`` if its header ``Date`` is missing or wrong.
    """
    date = next((value for name, value in headers.items() if name.lower() == "date"), "")
    try:
        found = parsedate_to_datetime(date)
    except ValueError:
        return None
    return found.astimezone(timezone.utc) + _CLOCK_RESOLUTION / 2 - utc_now()
