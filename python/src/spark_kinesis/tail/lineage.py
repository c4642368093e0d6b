"""Which shard may be read: a child after its parents. Makes no calls."""

from __future__ import annotations

from collections.abc import Collection, Mapping, Sequence


class Lineage:
    """The shards that are read, those that wait, and those that have ended.

    Args:
        first: IDs of the shards to begin with.
        waits_for_all: whether a child waits for each of its parents. Otherwise, it waits for those
            that are read or wait: a user who chose some shards does not read the others.
    """

    def __init__(self, first: Sequence[str], *, waits_for_all: bool) -> None:
        """Read the first shards."""
        self._reading = set(first)
        self._ended: set[str] = set()
        self._waiting: dict[str, frozenset[str]] = {}
        self._waits_for_all = waits_for_all

    def end(self, shard: str, children: Mapping[str, Collection[str]]) -> list[str]:
        """End a shard.

        Args:
            shard: its ID.
            children: the IDs of its children, each with those of all its parents.

        Returns:
            The IDs of the shards that can be read now.
        """
        self._reading.discard(shard)
        self._ended.add(shard)
        for child, parents in children.items():
            if child not in self._reading | self._ended:
                self._waiting[child] = frozenset(parents)
        ready = [it for it, parents in self._waiting.items() if self._is_ready(parents)]
        for it in ready:
            del self._waiting[it]
        self._reading.update(ready)
        return ready

    def _is_ready(self, parents: Collection[str]) -> bool:
        left = set(parents) - self._ended
        return not left if self._waits_for_all else not left & (self._reading | set(self._waiting))
