"""The times that decide whether records of a stream may have expired. Makes no calls."""

from __future__ import annotations

from dataclasses import dataclass
from datetime import datetime, timedelta
from typing import TYPE_CHECKING

from spark_kinesis._errors import SparkKinesisError
from spark_kinesis._times import instant
from spark_kinesis.checkpoint import Progress, ShardOffset

if TYPE_CHECKING:
    from .summary import StreamSummary

_LEASE_RESOLUTION = timedelta(seconds=1)


@dataclass(frozen=True, kw_only=True)
class StreamTimes:
    """The times of a stream, by the service's clock.

    Attributes:
        now: the current time.
        horizon: records that arrived earlier have expired.
        created: when the stream was created. No record arrived earlier.
    """

    now: datetime
    horizon: datetime
    created: datetime

    @staticmethod
    def of(stream: StreamSummary) -> StreamTimes:
        """The times of a stream.

        Raises:
            SparkKinesisError: if the answers of the service have no time.
        """
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


def created_again(arn: str, created: datetime, recorded: datetime | None) -> str | None:
    """A sentence if positions belong to an earlier stream with the same name.

    Args:
        arn: ARN of the stream.
        created: when it was created.
        recorded: when the stream of the positions was created, at least to the second. ``None`` if
            the positions do not say so.
    """
    if recorded is None or abs(created - recorded) < _LEASE_RESOLUTION:
        return None
    return (
        f"stream {arn} was created at {instant(created)}, and the positions belong to one created "
        f"at {instant(recorded)}: it was deleted and created again."
    )
