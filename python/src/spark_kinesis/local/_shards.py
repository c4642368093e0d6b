"""The shards of a stream, and the choice of those to split or merge. Makes no calls."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from itertools import pairwise
from typing import Any


@dataclass(frozen=True, kw_only=True, slots=True)
class Shard:
    """A shard, its range of hash keys, and its parents.

    Attributes:
        id: id of the shard, such as ``shardId-000000000003``.
        is_open: whether it takes records.
        first: lowest hash key, inclusive.
        last: highest hash key, inclusive.
        parents: ids of the shards it was made of, which may have expired; none for a shard of a
            new stream.
    """

    id: str
    is_open: bool
    first: int
    last: int
    parents: tuple[str, ...]

    @property
    def name(self) -> str:
        """The number in its id."""
        return str(int(self.id.removeprefix("shardId-")))

    @property
    def width(self) -> int:
        """The number of its hash keys."""
        return self.last - self.first + 1

    @property
    def middle(self) -> int:
        """The lowest hash key of its upper half."""
        return self.first + self.width // 2


def described(shard: Mapping[str, Any]) -> Shard:
    """The shard in a description by the service."""
    parents = (shard.get("ParentShardId"), shard.get("AdjacentParentShardId"))
    return Shard(
        id=shard["ShardId"],
        is_open="EndingSequenceNumber" not in shard["SequenceNumberRange"],
        first=int(shard["HashKeyRange"]["StartingHashKey"]),
        last=int(shard["HashKeyRange"]["EndingHashKey"]),
        parents=tuple(parent for parent in parents if parent),
    )


def open_shards(shards: Sequence[Shard]) -> list[Shard]:
    """The open shards, by hash key."""
    return sorted((shard for shard in shards if shard.is_open), key=lambda shard: shard.first)


def shard_to_split(
    stream: str, shards: Sequence[Shard], wanted: str | None, at: int | None
) -> Shard:
    """The shard named, or the open shard of a hash key, or the widest (the first of several).

    Raises:
        ValueError: if no such shard is open.
    """
    candidates = open_shards(shards)
    if wanted is not None:
        return _named(stream, candidates, wanted)
    holders = candidates if at is None else [s for s in candidates if s.first <= at <= s.last]
    if not holders:
        raise ValueError(f"stream {stream}: no open shard has the hash key {at}")
    return max(holders, key=lambda shard: shard.width)


def pair_to_merge(
    stream: str, shards: Sequence[Shard], wanted: str | None, adjacent: str | None
) -> tuple[Shard, Shard]:
    """Two open shards with adjacent ranges, the lower one first.

    Without names, the pair that is narrowest together (the first of several). With one name, the
    shard and its upper neighbor, or the lower neighbor of the highest shard.

    Raises:
        ValueError: if there is no such pair.
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
    """The shards by id, but each after its parents."""
    left = sorted(shards, key=lambda shard: shard.id)
    ordered: list[Shard] = []
    while left:
        waiting = {shard.id for shard in left}
        ready = [shard for shard in left if not waiting & set(shard.parents)]
        ordered += ready or left  # a circle of parents has no order
        left = [shard for shard in left if shard not in ordered]
    return ordered


def _named(stream: str, candidates: Sequence[Shard], name: str) -> Shard:
    found = next((shard for shard in candidates if shard.id == name), None)
    if found is None:
        ids = ", ".join(shard.id for shard in candidates)
        raise ValueError(f"stream {stream}: {name!r} is not an open shard. Open shards: {ids}")
    return found
