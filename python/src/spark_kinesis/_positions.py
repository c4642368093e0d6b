"""Where reading begins, and where a batch read ends."""

from __future__ import annotations

import json
from collections.abc import Mapping
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


@dataclass(frozen=True, slots=True)
class AtSequenceNumber:
    """With this very record, which is the last one where it is an end. Only of a shard.

    Attributes:
        sequence_number: its digits, as in the column ``sequenceNumber``.
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
    """Behind this record: where a reader that has had it goes on. Only of a shard.

    Attributes:
        sequence_number: its digits, as in the column ``sequenceNumber``.
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
_WHOLE = (Latest, TrimHorizon, AtTimestamp)
_OF_SHARD = (*_WHOLE, AtSequenceNumber, AfterSequenceNumber)


@dataclass(frozen=True, slots=True)
class ByShard:
    """A position for each of some shards of one stream, and one for all its others.

    Attributes:
        shards: by name, such as ``"shardId-000000000001"``.
        others: of every shard that is not named.
    """

    shards: Mapping[str, ShardPosition]
    others: Position

    def __post_init__(self) -> None:
        """Check types; what is in it cannot change from now on."""
        require("shards", self.shards, Mapping)
        if "*" in self.shards:
            raise ValueError("shards has '*': say it as others")
        object.__setattr__(self, "shards", dict(self.shards))
        for shard, position in self.shards.items():
            require("a shard", shard, str)
            require(f"the position of {shard}", position, *_OF_SHARD)
        require("others", self.others, *_WHOLE)

    def option(self) -> dict[str, str | dict[str, str]]:
        """A part of the JSON of ``startingPosition``."""
        named = {shard: position.option() for shard, position in self.shards.items()}
        return {**named, "*": self.others.option()}


@dataclass(frozen=True, slots=True)
class ByStream:
    """A position for each stream of a source.

    Attributes:
        streams: by the name or ARN that the source has; every one of them.
    """

    streams: Mapping[str, Position | ByShard]

    def __post_init__(self) -> None:
        """Check types; what is in it cannot change from now on."""
        require("streams", self.streams, Mapping)
        object.__setattr__(self, "streams", dict(self.streams))
        for stream, position in self.streams.items():
            require("a stream", stream, str)
            require(f"the position of {stream}", position, *_WHOLE, ByShard)

    def option(self) -> str:
        """The value of ``startingPosition``."""
        return json.dumps({name: position.option() for name, position in self.streams.items()})


AnyPosition = Position | ByShard | ByStream
POSITIONS = (*_WHOLE, ByShard, ByStream)


def position_option(
    name: str, position: AnyPosition | None, streams: tuple[str, ...]
) -> str | None:
    """A position as an option takes it.

    Raises:
        ValueError: for positions by shard where there are several streams.
    """
    if not isinstance(position, ByShard):
        return None if position is None else position.option()
    if len(streams) > 1:
        raise ValueError(f"{name} by shard is of one stream: say ByStream for {len(streams)}")
    return ByStream({streams[0]: position}).option()
