"""Where another consumer stopped in a shard."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, replace
from datetime import datetime
from enum import Enum

from spark_kinesis._errors import MigrationError


class StopKind(Enum):
    """What a position means. The values are the words of Kinesis and of its Client Library."""

    AFTER = "AFTER_SEQUENCE_NUMBER"
    AT = "AT_SEQUENCE_NUMBER"
    AT_TIME = "AT_TIMESTAMP"
    TRIM_HORIZON = "TRIM_HORIZON"
    LATEST = "LATEST"
    SHARD_END = "SHARD_END"


@dataclass(frozen=True, kw_only=True)
class Stop:
    """A position that another consumer stored for a shard.

    Attributes:
        kind: what the position means.
        sequence_number: with ``AFTER`` the last record that was read, with ``AT`` the next one.
        sub_sequence_number: with ``AFTER`` the last user record that was read of an aggregate,
            counted from 0. ``None`` if the whole record was read.
        time: with ``AT_TIME`` the time of arrival from which records are read.
    """

    kind: StopKind
    sequence_number: int | None = None
    sub_sequence_number: int | None = None
    time: datetime | None = None

    @property
    def text(self) -> str:
        """The position in words."""
        number = str(self.sequence_number)
        if self.sub_sequence_number is not None:
            number += f" ({self.sub_sequence_number})"
        return {
            StopKind.AFTER: f"after {number}",
            StopKind.AT: f"before {number}",
            StopKind.AT_TIME: f"before {self.time.isoformat() if self.time else None}",
            StopKind.TRIM_HORIZON: "nothing read",
            StopKind.LATEST: "nothing read, waits for new records",
            StopKind.SHARD_END: "read to its end",
        }[self.kind]


@dataclass(frozen=True, kw_only=True)
class StreamStops:
    """Where another consumer stopped in a stream.

    Attributes:
        stream: name or ARN.
        stops: the positions, by shard ID.
        created: creation time of the stream that it read, to the second. ``None`` if its positions
            do not say so.
    """

    stream: str
    stops: Mapping[str, Stop]
    created: datetime | None = None

    def with_latest_at(self, time: datetime | None) -> StreamStops:
        """The stops with a time in place of ``LATEST``. ``None`` changes nothing."""
        if time is None:
            return self
        at = Stop(kind=StopKind.AT_TIME, time=time)
        stops = {
            shard: at if stop.kind is StopKind.LATEST else stop
            for shard, stop in self.stops.items()
        }
        return replace(self, stops=stops)


SHARD_END = Stop(kind=StopKind.SHARD_END)
TRIM_HORIZON = Stop(kind=StopKind.TRIM_HORIZON)


def stop_of(
    word: str,
    number: str | None,
    where: str,
    *,
    sub: int | None = None,
    time: datetime | None = None,
) -> Stop:
    """A position from the words of Kinesis.

    Args:
        word: ``AFTER_SEQUENCE_NUMBER``, ``AT_SEQUENCE_NUMBER``, ``AT_TIMESTAMP``, ``TRIM_HORIZON``,
            ``LATEST`` or ``SHARD_END``, in upper or lower case.
        number: the sequence number, in decimal digits.
        where: where the position was found, for errors.
        sub: number of a user record in an aggregate. Negative for none.
        time: time of ``AT_TIMESTAMP``.

    Raises:
        MigrationError: for another word, or if the number or the time is missing.
    """
    try:
        kind = StopKind(word.strip().upper())
    except ValueError:
        words = ", ".join(it.value for it in StopKind)
        raise MigrationError(f"{where}: the position {word!r} is not one of {words}") from None
    if kind is StopKind.AT_TIME and time is None:
        raise MigrationError(f"{where}: AT_TIMESTAMP has no time: name it with --at TIME")
    if kind not in (StopKind.AFTER, StopKind.AT):
        return Stop(kind=kind, time=time if kind is StopKind.AT_TIME else None)
    if number is None or not number.strip().isdecimal():
        raise MigrationError(f"{where}: {number!r} is not a sequence number of decimal digits")
    is_inside = kind is StopKind.AFTER and sub is not None and sub >= 0
    return Stop(
        kind=kind,
        sequence_number=int(number),
        sub_sequence_number=sub if is_inside else None,
    )
