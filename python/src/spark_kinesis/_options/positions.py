"""Positions in a stream: where reading starts, and where a batch read ends."""

from __future__ import annotations

from dataclasses import dataclass
from datetime import datetime, timedelta, timezone
from typing import Literal

from spark_kinesis._times import to_iso

from .values import require

PositionWord = Literal["latest", "trim_horizon"]


@dataclass(frozen=True, slots=True)
class Latest:
    """The position after the newest record. It is decided once, when the query first starts."""

    def option(self) -> str:
        """The value of ``startingPosition``."""
        return "latest"


@dataclass(frozen=True, slots=True)
class TrimHorizon:
    """At the oldest record that the stream still holds."""

    def option(self) -> str:
        """The value of ``startingPosition``."""
        return "trim_horizon"


@dataclass(frozen=True, slots=True)
class AtTimestamp:
    """At the first record that arrived at this moment or later.

    Attributes:
        when: a time with a time zone. Kinesis stores milliseconds.
    """

    when: datetime

    def __post_init__(self) -> None:
        """Refuse a time without a time zone: it is another moment on another machine."""
        require("when", self.when, datetime)
        if self.when.tzinfo is None or self.when.utcoffset() is None:
            raise ValueError(
                f"AtTimestamp needs a time zone, not {self.when!r}: "
                "write datetime(..., tzinfo=timezone.utc)"
            )

    @classmethod
    def ago(cls, duration: timedelta) -> AtTimestamp:
        """The moment that is this long ago, by this machine's clock, when you call the method.

        Args:
            duration: such as ``timedelta(hours=1)``, not negative.

        Raises:
            TypeError: if the duration is not a ``timedelta``.
            ValueError: if it is negative: that moment is still to come.
        """
        require("duration", duration, timedelta)
        if duration < timedelta(0):
            raise ValueError(f"AtTimestamp.ago needs a duration of at least 0, not {duration!r}")
        return cls(_now() - duration)

    def option(self) -> str:
        """The value of ``startingPosition``."""
        return to_iso(self.when)


@dataclass(frozen=True, slots=True)
class AtSequenceNumber:
    """At this record of a shard: the first record to read, or the last one of a batch read.

    Attributes:
        sequence_number: decimal digits, as in the column ``sequenceNumber``.
    """

    sequence_number: str

    def __post_init__(self) -> None:
        """Check the type."""
        require("sequence_number", self.sequence_number, str)

    def option(self) -> dict[str, str]:
        """A part of the JSON of ``startingPosition``."""
        return {"at": self.sequence_number}


@dataclass(frozen=True, slots=True)
class AfterSequenceNumber:
    """The position after this record of a shard: where to continue after you have read it.

    Attributes:
        sequence_number: decimal digits, as in the column ``sequenceNumber``.
    """

    sequence_number: str

    def __post_init__(self) -> None:
        """Check the type."""
        require("sequence_number", self.sequence_number, str)

    def option(self) -> dict[str, str]:
        """A part of the JSON of ``startingPosition``."""
        return {"after": self.sequence_number}


Position = Latest | TrimHorizon | AtTimestamp
ShardPosition = Position | AtSequenceNumber | AfterSequenceNumber
OF_STREAM = (Latest, TrimHorizon, AtTimestamp)
OF_SHARD = (*OF_STREAM, AtSequenceNumber, AfterSequenceNumber)


def _now() -> datetime:
    return datetime.now(timezone.utc)
