"""The shards of a stream, and which of them to split or merge. Decides only; asks nobody."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from itertools import pairwise
from typing import Any


@dataclass(frozen=True, kw_only=True, slots=True)
class Shard:
    """A shard, its inclusive hash key range, and the shards it was made of.

    Attributes:
        id: such as ``shardId-000000000003``.
        is_open: whether it still takes records.
        first: the lowest hash key.
        last: the highest.
        parents: ids, none for a shard of a new stream; a parent may be long gone.
    """

    id: str
    is_open: bool
    first: int
    last: int
    parents: tuple[str, ...]

    @property
    def name(self) -> str:
        """Its number."""
        return short(self.id)

    @property
    def width(self) -> int:
        """How many hash keys it has."""
        return self.last - self.first + 1

    @property
    def middle(self) -> int:
        """The first hash key of its upper half."""
        return self.first + self.width // 2


def short(shard: str) -> str:
    """The number of a shard, as people say it."""
    return str(int(shard.removeprefix("shardId-")))


def described(shard: Mapping[str, Any]) -> Shard:
    """A shard as the service describes it."""
    parents = (shard.get("ParentShardId"), shard.get("AdjacentParentShardId"))
    return Shard(
        id=shard["ShardId"],
        is_open="EndingSequenceNumber" not in shard["SequenceNumberRange"],
        first=int(shard["HashKeyRange"]["StartingHashKey"]),
        last=int(shard["HashKeyRange"]["EndingHashKey"]),
        parents=tuple(parent for parent in parents if parent),
    )


def children(shards: Sequence[Shard], parents: Sequence[Shard]) -> list[Shard]:
    """What became of some shards."""
    closed = {parent.id for parent in parents}
    return [shard for shard in shards if closed & set(shard.parents)]


def open_shards(shards: Sequence[Shard]) -> list[Shard]:
    """Those that take records, by hash key."""
    return sorted((shard for shard in shards if shard.is_open), key=lambda shard: shard.first)


def one_to_split(stream: str, shards: Sequence[Shard], wanted: str | None, at: int | None) -> Shard:
    """The wanted shard, or the open one that holds a hash key, or the widest (the lowest such).

    Raises:
        ValueError: when the wanted one is not among the open shards.
    """
    candidates = open_shards(shards)
    if wanted is not None:
        return _named(stream, candidates, wanted)
    holders = candidates if at is None else [s for s in candidates if s.first <= at <= s.last]
    if not holders:
        raise ValueError(f"stream {stream}: hash key {at} belongs to no open shard")
    return max(holders, key=lambda shard: shard.width)


def pair_to_merge(
    stream: str, shards: Sequence[Shard], wanted: str | None, adjacent: str | None
) -> tuple[Shard, Shard]:
    """Two open shards whose ranges touch, lower first.

    Left open, they are the two that are narrowest together (of several, the lowest); of one
    shard, its upper neighbour or, for the highest, the lower.

    Raises:
        ValueError: when there is no such pair.
    """
    candidates = open_shards(shards)
    pairs = list(pairwise(candidates))
    asked = {_named(stream, candidates, name).id for name in (wanted, adjacent) if name is not None}
    fitting = [pair for pair in pairs if asked <= {shard.id for shard in pair}]
    if not fitting:
        wanted_ones = f" with {' and '.join(sorted(asked))}" if asked else ""
        raise ValueError(f"stream {stream}: no two adjacent open shards{wanted_ones} to merge")
    if len(asked) == 1:
        return fitting[-1]
    return min(fitting, key=lambda pair: pair[0].width + pair[1].width)


def parents_first(shards: Sequence[Shard]) -> list[Shard]:
    """Every shard after the shards it was made of; otherwise by number."""
    left = sorted(shards, key=lambda shard: shard.id)
    ordered: list[Shard] = []
    while left:
        waiting = {shard.id for shard in left}
        ready = [shard for shard in left if not waiting & set(shard.parents)]
        ordered += ready or left  # a service that calls a shard its own ancestor has no order
        left = [shard for shard in left if shard not in ordered]
    return ordered


def _named(stream: str, candidates: Sequence[Shard], name: str) -> Shard:
    found = next((shard for shard in candidates if shard.id == name), None)
    if found is None:
        ids = ", ".join(shard.id for shard in candidates)
        raise ValueError(f"stream {stream}: {name!r} is no open shard; the open ones are {ids}")
    return found
