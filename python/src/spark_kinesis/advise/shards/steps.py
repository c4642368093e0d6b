"""The splits and merges that lead from the present shards to the wanted ones."""

from __future__ import annotations

from bisect import bisect_right
from collections.abc import Collection, Iterator, Sequence
from dataclasses import dataclass, replace
from itertools import count, pairwise


@dataclass(frozen=True, kw_only=True, slots=True)
class HashRange:
    """An open shard.

    Attributes:
        id: ID of the shard.
        first_key: lowest hash key, inclusive.
        last_key: highest hash key, inclusive.
    """

    id: str
    first_key: int
    last_key: int


@dataclass(frozen=True, kw_only=True, slots=True)
class Split:
    """A split.

    Attributes:
        shard: ID of the shard.
        at: lowest hash key of the upper new shard.
    """

    shard: str
    at: int


@dataclass(frozen=True, kw_only=True, slots=True)
class Merge:
    """A merge of two neighbors.

    Attributes:
        shard: ID of the lower shard.
        adjacent: ID of the upper shard.
        at: lowest hash key of the upper shard, where the border goes away.
    """

    shard: str
    adjacent: str
    at: int


Step = Split | Merge


def next_step(present: Sequence[HashRange], wanted: Collection[int]) -> Step | None:
    """The next call. ``None`` if the stream has the wanted shards.

    It depends on nothing but the present shards, so an interrupted change continues where it ended.
    Splits come first, so that no shard is fuller than before at any time. A shard is cut in the
    middle of its cuts, so that its descendants have few generations: a query reads one after the
    other.

    Args:
        present: all open shards, in any order.
        wanted: lowest hash keys of the wanted shards.
    """
    ordered = sorted(present, key=lambda it: it.first_key)
    borders, goal = sorted(wanted), frozenset(wanted)
    for shard in ordered:
        cuts = _inside(borders, shard)
        if cuts:
            return Split(shard=shard.id, at=cuts[len(cuts) // 2])
    for low, high in pairwise(ordered):
        if high.first_key not in goal:
            return Merge(shard=low.id, adjacent=high.id, at=high.first_key)
    return None


def all_steps(present: Sequence[HashRange], wanted: Collection[int]) -> list[Step]:
    """All calls in their order. New shards are called ``new-1``, ``new-2`` and so on.

    It is what ``next_step`` says call by call, but quick also for thousands of shards.
    """
    names = (f"new-{number}" for number in count(1))
    borders, steps, parts = sorted(wanted), list[Step](), list[HashRange]()
    for shard in sorted(present, key=lambda it: it.first_key):
        parts += _split(shard, _inside(borders, shard), steps, names)
    kept, goal = parts[0], frozenset(wanted)
    for part in parts[1:]:
        if part.first_key in goal:
            kept = part
        else:
            steps.append(Merge(shard=kept.id, adjacent=part.id, at=part.first_key))
            kept = replace(kept, id=next(names), last_key=part.last_key)
    return steps


def _split(
    shard: HashRange, cuts: Sequence[int], steps: list[Step], names: Iterator[str]
) -> list[HashRange]:
    """The parts of a shard, and the steps that make them, the lower half first."""
    if not cuts:
        return [shard]
    middle = len(cuts) // 2
    steps.append(Split(shard=shard.id, at=cuts[middle]))
    low = replace(shard, id=next(names), last_key=cuts[middle] - 1)
    high = replace(shard, id=next(names), first_key=cuts[middle])
    return [
        *_split(low, cuts[:middle], steps, names),
        *_split(high, cuts[middle + 1 :], steps, names),
    ]


def _inside(borders: Sequence[int], shard: HashRange) -> Sequence[int]:
    """The borders that cut a shard."""
    return borders[bisect_right(borders, shard.first_key) : bisect_right(borders, shard.last_key)]
