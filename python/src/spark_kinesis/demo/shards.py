"""The shards of a stream, and how they are split and merged."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any


@dataclass(frozen=True, kw_only=True, slots=True)
class Shard:
    """A shard, its inclusive hash key range, and the shards it was made of."""

    id: str
    is_open: bool
    first: int
    last: int
    parents: tuple[str, ...]

    @property
    def name(self) -> str:
        """Its number."""
        return short(self.id)


def short(shard: str) -> str:
    """The number of a shard, as people say it."""
    return str(int(shard.removeprefix("shardId-")))


def list_shards(client: Any, stream: str) -> list[Shard]:
    """All shards, open and closed, by number."""
    found = client.list_shards(StreamName=stream)["Shards"]
    return sorted(map(_shard, found), key=lambda shard: shard.id)


def split(client: Any, stream: str) -> list[Shard]:
    """Split the first open shard in half; returns it."""
    shard = _open_shards(client, stream)[0]
    middle = (shard.first + shard.last) // 2 + 1
    client.split_shard(StreamName=stream, ShardToSplit=shard.id, NewStartingHashKey=str(middle))
    return [shard]


def merge(client: Any, stream: str) -> list[Shard]:
    """Merge the last two open shards; returns them."""
    left, right = _open_shards(client, stream)[-2:]
    client.merge_shards(StreamName=stream, ShardToMerge=left.id, AdjacentShardToMerge=right.id)
    return [left, right]


def children(shards: list[Shard], parents: list[Shard]) -> list[Shard]:
    """What became of some shards."""
    closed = {parent.id for parent in parents}
    return [shard for shard in shards if closed & set(shard.parents)]


def _open_shards(client: Any, stream: str) -> list[Shard]:
    shards = [shard for shard in list_shards(client, stream) if shard.is_open]
    return sorted(shards, key=lambda shard: shard.first)


def _shard(described: dict[str, Any]) -> Shard:
    parents = (described.get("ParentShardId"), described.get("AdjacentParentShardId"))
    return Shard(
        id=described["ShardId"],
        is_open="EndingSequenceNumber" not in described["SequenceNumberRange"],
        first=int(described["HashKeyRange"]["StartingHashKey"]),
        last=int(described["HashKeyRange"]["EndingHashKey"]),
        parents=tuple(parent for parent in parents if parent),
    )
