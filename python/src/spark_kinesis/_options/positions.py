"""Positions in a stream: where reading starts, and where a batch read ends."""

from __future__ import annotations

import json
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from datetime import datetime, timedelta
from typing import Any

from spark_kinesis._times import from_iso, to_iso, utc_now

from .declared import require


@dataclass(frozen=True, slots=True)
class Latest:
    """The position after the newest record. It is decided once, when the query first starts."""


@dataclass(frozen=True, slots=True)
class TrimHorizon:
    """At the oldest record that the stream still holds."""


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
                f"the time {self.when!r} of a position has no time zone. Write "
                "datetime(..., tzinfo=timezone.utc), or a text that ends with Z"
            )

    @classmethod
    def ago(cls, duration: timedelta) -> AtTimestamp:
        """The moment that is this long ago, by this machine's clock, when you call the method.

        Args:
            duration: such as ``timedelta(hours=1)``.
        """
        return cls(utc_now() - duration)


@dataclass(frozen=True, slots=True)
class AtSequenceNumber:
    """At this record of a shard: the first record to read, or the last one of a batch read.

    Attributes:
        sequence_number: decimal digits, as in the column ``sequenceNumber``.
    """

    sequence_number: str


@dataclass(frozen=True, slots=True)
class AfterSequenceNumber:
    """The position after this record of a shard: where to continue after you have read it.

    Attributes:
        sequence_number: decimal digits, as in the column ``sequenceNumber``.
    """

    sequence_number: str


Position = Latest | TrimHorizon | AtTimestamp
ShardPosition = Position | AtSequenceNumber | AfterSequenceNumber
_OF_STREAM = (Latest, TrimHorizon, AtTimestamp)
_OF_SHARD = (*_OF_STREAM, AtSequenceNumber, AfterSequenceNumber)


@dataclass(frozen=True, slots=True)
class ByShard:
    """A position for each of some shards of one stream, and one for all its other shards.

    Attributes:
        shards: the positions by shard id, such as ``"shardId-000000000001"``.
        others: the position of every shard that ``shards`` does not name.
    """

    shards: Mapping[str, ShardPosition | datetime | str]
    others: Position | datetime | str

    def __post_init__(self) -> None:
        """Check types, and keep a copy."""
        if "*" in self.shards:
            raise ValueError("shards contains '*': set others instead")
        object.__setattr__(self, "shards", _positions(self.shards, _OF_SHARD))
        object.__setattr__(self, "others", position("others", self.others, _OF_STREAM))


@dataclass(frozen=True, slots=True)
class ByStream:
    """A position for each stream of a source.

    Attributes:
        streams: the positions by the name or ARN that the source uses, for every stream of it.
    """

    streams: Mapping[str, Position | ByShard | datetime | str]

    def __post_init__(self) -> None:
        """Check types, and keep a copy."""
        kinds = (*_OF_STREAM, ByShard)
        object.__setattr__(self, "streams", _positions(self.streams, kinds))


AnyPosition = Position | ByShard | ByStream | datetime | str
OF_SOURCE = (*_OF_STREAM, ByShard, ByStream)


def position(name: str, given: object, kinds: tuple[type, ...]) -> Any:
    """A position, also from a word or a time.

    Args:
        name: the field, for messages.
        given: a position, a ``datetime``, or a text: ``latest``, ``trim_horizon`` or ``earliest``
            in lower or upper case, or a time in ISO 8601.
        kinds: classes of the positions that are accepted.

    Raises:
        TypeError: if it is none of these.
        ValueError: for another text, or a time without a time zone.
    """
    if isinstance(given, datetime):
        return AtTimestamp(given)
    if isinstance(given, str):
        return _of_text(name, given)
    require(name, given, *kinds, str, datetime)
    return given


def position_option(name: str, at: Any, streams: Sequence[str]) -> str | None:
    """The position of a source as the value of an option.

    Raises:
        ValueError: for positions by shard if the source reads several streams.
    """
    if not isinstance(at, (ByShard, ByStream)):
        return None if at is None else str(_json_of(at))
    if isinstance(at, ByShard) and len(streams) > 1:
        raise ValueError(
            f"{name} is a ByShard, but the source reads {len(streams)} streams: use ByStream, "
            "with a ByShard for each stream that needs one"
        )
    by_stream = dict.fromkeys(streams, at) if isinstance(at, ByShard) else at.streams
    return json.dumps({stream: _json_of(it) for stream, it in by_stream.items()})


def _json_of(at: Any) -> object:
    if isinstance(at, ByShard):
        return {shard: _json_of(it) for shard, it in {**at.shards, "*": at.others}.items()}
    if isinstance(at, AtTimestamp):
        return to_iso(at.when)
    if isinstance(at, AtSequenceNumber):
        return {"at": at.sequence_number}
    if isinstance(at, AfterSequenceNumber):
        return {"after": at.sequence_number}
    return "latest" if isinstance(at, Latest) else "trim_horizon"


def _of_text(name: str, text: str) -> Position:
    word = text.lower()
    if word == "latest":
        return Latest()
    if word in ("trim_horizon", "earliest"):
        return TrimHorizon()
    try:
        when = from_iso(text)
    except ValueError:
        raise ValueError(
            f"{name} must be 'latest', 'trim_horizon' or 'earliest', or a time such as "
            f"'2026-01-02T03:04:05Z', not {text!r}"
        ) from None
    return AtTimestamp(when)


def _positions(given: Mapping[str, object], kinds: tuple[type, ...]) -> dict[str, Any]:
    return {name: position(f"the position of {name}", at, kinds) for name, at in given.items()}
