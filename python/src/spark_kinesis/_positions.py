"""Where a new query begins to read."""

from __future__ import annotations

from dataclasses import dataclass
from datetime import datetime

from ._values import instant, require


@dataclass(frozen=True, slots=True)
class Latest:
    """After the newest record; decided once, when the query first starts."""

    def option(self) -> str:
        """The value of ``startingPosition``."""
        return "latest"


@dataclass(frozen=True, slots=True)
class TrimHorizon:
    """At the oldest record the stream still keeps."""

    def option(self) -> str:
        """The value of ``startingPosition``."""
        return "trim_horizon"


@dataclass(frozen=True, slots=True)
class AtTimestamp:
    """At the first record that arrived at or after a moment.

    Attributes:
        when: with a time zone. Kinesis keeps milliseconds.
    """

    when: datetime

    def __post_init__(self) -> None:
        """Refuse a moment that means something else on another machine."""
        require("when", self.when, datetime)
        if self.when.tzinfo is None or self.when.utcoffset() is None:
            raise ValueError(
                f"AtTimestamp needs a time zone, not {self.when!r}: "
                "say datetime(..., tzinfo=timezone.utc)"
            )

    def option(self) -> str:
        """The value of ``startingPosition``."""
        return instant(self.when)


Position = Latest | TrimHorizon | AtTimestamp
