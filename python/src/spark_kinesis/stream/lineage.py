"""How the shards of a stream descend from each other."""

from __future__ import annotations

from collections.abc import Collection, Mapping
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from .shards import StreamShard


def parents_first(shards: Mapping[str, StreamShard]) -> list[StreamShard]:
    """The shards in an order in which each comes after its parents. A lineage may be long."""
    done: dict[str, StreamShard] = {}
    for name in sorted(shards):
        path = [name]
        while path:
            shard = shards[path[-1]]
            missing = [it for it in shard.parents if it in shards and it not in done]
            if missing:
                path.append(missing[0])
            else:
                done[path.pop()] = shard
    return list(done.values())


def descendants(shards: Mapping[str, StreamShard], of: Collection[str]) -> set[str]:
    """The shards that descend from some, without these unless one descends from another.

    Args:
        shards: all shards that are listed, by ID.
        of: IDs of shards, which need not be listed.
    """
    found: set[str] = set()
    for shard in parents_first(shards):
        if any(parent in of or parent in found for parent in shard.parents):
            found.add(shard.id)
    return found


def ancestors(shards: Mapping[str, StreamShard], of: Collection[str]) -> set[str]:
    """The shards from which some descend, also those that are no longer listed."""
    found: set[str] = set()
    for shard in reversed(parents_first(shards)):
        if shard.id in of or shard.id in found:
            found.update(shard.parents)
    return found
