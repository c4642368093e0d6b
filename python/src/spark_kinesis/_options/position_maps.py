"""Positions for several shards or streams, and the options made of positions."""

from __future__ import annotations

import json
from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any

from .mapping import FrozenMapping
from .positions import (
    OF_SHARD,
    OF_STREAM,
    Latest,
    Position,
    PositionWord,
    ShardPosition,
    TrimHorizon,
)
from .values import require, require_word


@dataclass(frozen=True, slots=True)
class ByShard:
    """A position for each of some shards of one stream, and one for all its other shards.

    Attributes:
        shards: the positions by shard id, such as ``"shardId-000000000001"``.
        others: the position of every shard that ``shards`` does not name.
    """

    shards: Mapping[str, ShardPosition | PositionWord]
    others: Position | PositionWord

    def __post_init__(self) -> None:
        """Check types, and keep a copy that cannot change."""
        require("shards", self.shards, Mapping)
        if "*" in self.shards:
            raise ValueError("shards contains '*': set others instead")
        given = {_name("a shard", shard): at for shard, at in self.shards.items()}
        positions = {
            shard: _checked(f"the position of {shard}", position, OF_SHARD)
            for shard, position in given.items()
        }
        object.__setattr__(self, "shards", FrozenMapping(positions))
        object.__setattr__(self, "others", _checked("others", self.others, OF_STREAM))

    def option(self) -> dict[str, object]:
        """A part of the JSON of ``startingPosition``."""
        named = {shard: _option(position) for shard, position in self.shards.items()}
        return {**named, "*": _option(self.others)}


@dataclass(frozen=True, slots=True)
class ByStream:
    """A position for each stream of a source.

    Attributes:
        streams: the positions by the name or ARN that the source uses, for every stream of it.
    """

    streams: Mapping[str, Position | ByShard | PositionWord]

    def __post_init__(self) -> None:
        """Check types, and keep a copy that cannot change."""
        require("streams", self.streams, Mapping)
        given = {_name("a stream", stream): at for stream, at in self.streams.items()}
        positions = {
            stream: _checked(f"the position of {stream}", position, (*OF_STREAM, ByShard))
            for stream, position in given.items()
        }
        object.__setattr__(self, "streams", FrozenMapping(positions))

    def option(self) -> str:
        """The value of ``startingPosition``."""
        return json.dumps({name: _option(position) for name, position in self.streams.items()})


AnyPosition = Position | ByShard | ByStream | PositionWord


def source_position(name: str, given: object) -> Position | ByShard | ByStream | None:
    """The position of a source, from a position or its word.

    Raises:
        TypeError: if it is neither.
        ValueError: for another word.
    """
    if given is None:
        return None
    position: Position | ByShard | ByStream = _checked(name, given, (*OF_STREAM, ByShard, ByStream))
    return position


def position_option(
    name: str, position: AnyPosition | None, streams: tuple[str, ...]
) -> str | None:
    """The position as the value of an option.

    Raises:
        ValueError: for positions by shard if the source reads several streams.
    """
    if not isinstance(position, ByShard):
        return position if position is None or isinstance(position, str) else position.option()
    if len(streams) > 1:
        raise ValueError(
            f"{name} is a ByShard, but the source reads {len(streams)} streams: use ByStream, "
            "with a ByShard for each stream that needs one"
        )
    return ByStream({streams[0]: position}).option()


def _checked(name: str, given: object, kinds: tuple[type, ...]) -> Any:
    if not isinstance(given, str):
        require(name, given, *kinds)
        return given
    require_word(name, given, PositionWord)
    return Latest() if given == "latest" else TrimHorizon()


def _option(position: ShardPosition | ByShard | PositionWord) -> object:
    return position if isinstance(position, str) else position.option()


def _name(what: str, given: object) -> str:
    require(what, given, str)
    return str(given)
