"""Which shards to split and merge, where, and in which order. Makes no calls."""

from __future__ import annotations

from bisect import bisect_left, bisect_right
from collections.abc import Collection, Sequence
from dataclasses import dataclass, replace
from itertools import pairwise
from math import sqrt
from typing import TYPE_CHECKING

from spark_kinesis.tools.facts.records import WRITE_BYTES, WRITE_RECORDS

if TYPE_CHECKING:
    from spark_kinesis.tools.facts.streams import StreamShard

LEAST_SAMPLE = 100
"""With fewer rows, a sample says little about a part of a shard: its load counts as even."""
_EVEN_PARTS = 256
_LIMITS = 4096  # that are tried for equal parts
# Neighbors are merged if they use at most this part of the target together, so that they stay so.
_MERGED = 5 / 8
# Standard deviations by which a part may carry more than its sample says: one part in 700 does.
_DEVIATIONS = 3.0


@dataclass(frozen=True, kw_only=True, slots=True)
class Rate:
    """Writes per second."""

    records: float = 0.0  # number of Kinesis records. An aggregated record is one.
    bytes: float = 0.0  # bytes of data and partition keys, as the quota counts them

    @property
    def used(self) -> float:
        """The used part of a shard's write quota: of records or of bytes, whichever is larger."""
        return max(self.records / WRITE_RECORDS, self.bytes / WRITE_BYTES)


@dataclass(frozen=True, kw_only=True, slots=True)
class Atom:
    """Load at one hash key, which no split divides."""

    hash_key: int
    records: float  # its part of the records of its shard, from 0 to 1
    bytes: float  # its part of the bytes
    key: str | None = None  # its partition key. ``None`` for a part of a load that counts as even.


@dataclass(frozen=True, kw_only=True, slots=True)
class ShardLoad:
    """An open shard and its load."""

    id: str  # ID of the shard
    first_key: int  # lowest hash key, inclusive
    last_key: int  # highest hash key, inclusive
    peak: Rate  # writes per second in the busiest measured minute
    sampled: int = 0  # number of sampled rows. Rows of aggregated records count one by one.
    atoms: tuple[Atom, ...] = ()  # the load by hash key, in order; empty if it counts as even

    def used(self, atoms: Sequence[Atom]) -> float:
        """The part of a quota that some atoms do not exceed, with the error of the sample."""
        records = self.peak.records * self._bound(sum(it.records for it in atoms))
        size = self.peak.bytes * self._bound(sum(it.bytes for it in atoms))
        return Rate(records=records, bytes=size).used

    def _bound(self, part: float) -> float:
        inside = min(1.0, part)
        if not self.atoms:
            return inside
        return min(1.0, inside + _DEVIATIONS * sqrt(inside * (1 - inside) / self.sampled))


@dataclass(frozen=True, kw_only=True, slots=True)
class HotKey:
    """A key that fills a shard beyond the target alone, so that no split helps."""

    key: str  # the partition key
    shard: str  # ID of its shard
    used: float  # the part of a shard's write quota that it may use, with the error of the sample


@dataclass(frozen=True, kw_only=True, slots=True)
class Piece:
    """A shard of the wanted layout."""

    first_key: int  # lowest hash key
    used: float  # part of a shard's write quota that its load does not exceed


@dataclass(frozen=True, kw_only=True, slots=True)
class Layout:
    """The shards that a stream should have."""

    pieces: tuple[Piece, ...]  # the shards, by hash key
    hot: tuple[HotKey, ...]  # the keys that no shard can serve below the target

    @property
    def starts(self) -> tuple[int, ...]:
        """The lowest hash key of each shard."""
        return tuple(it.first_key for it in self.pieces)


def plan_layout(shards: Sequence[ShardLoad], most: float) -> Layout:
    """Split shards that use more than this part of a quota, and merge nearly empty neighbors."""
    pieces: list[Piece] = []
    hot: list[HotKey] = []
    for shard in sorted(shards, key=lambda it: it.first_key):
        atoms = shard.atoms or _even(shard)
        for at, part in _cut(shard, atoms, most):
            piece = Piece(first_key=at, used=shard.used(part))
            if pieces and pieces[-1].used + piece.used <= most * _MERGED:
                pieces[-1] = replace(pieces[-1], used=pieces[-1].used + piece.used)
            else:
                pieces.append(piece)
        for atom in atoms:
            used = shard.used((atom,))
            if used > most and atom.key is not None:
                hot.append(HotKey(key=atom.key, shard=shard.id, used=used))
    return Layout(pieces=tuple(pieces), hot=tuple(hot))


def _even(shard: ShardLoad) -> tuple[Atom, ...]:
    """A load that is spread evenly over the hash keys of its shard."""
    width = shard.last_key - shard.first_key + 1
    count = min(_EVEN_PARTS, width)
    return tuple(
        Atom(
            hash_key=shard.first_key + (2 * number + 1) * width // (2 * count),
            records=1 / count,
            bytes=1 / count,
        )
        for number in range(count)
    )


def _cut(shard: ShardLoad, atoms: Sequence[Atom], most: float) -> list[tuple[int, Sequence[Atom]]]:
    """As few parts as possible that use at most a part of the quota, as equal as possible.

    Each has its lowest hash key and its load.
    """
    if shard.peak.used <= most:
        return [(shard.first_key, atoms)]
    fewest = len(_filled(shard, atoms, most))
    limits = [most * number / _LIMITS for number in range(1, _LIMITS + 1)]

    # A smaller limit gives more parts.
    chosen = bisect_left(limits, -fewest, key=lambda it: -len(_filled(shard, atoms, it)))
    return _filled(shard, atoms, limits[chosen])


def _filled(
    shard: ShardLoad, atoms: Sequence[Atom], most: float
) -> list[tuple[int, Sequence[Atom]]]:
    """Parts that take as much as they may, from the lowest hash key on."""
    starts, firsts = [shard.first_key], [0]
    records = size = 0.0
    for number, atom in enumerate(atoms):
        records, size = records + atom.records, size + atom.bytes
        whole = Atom(hash_key=0, records=records, bytes=size)
        if number > firsts[-1] and shard.used((whole,)) > most:
            # Both shards keep two hash keys or more: the service refuses a shard of one.
            start = max((atoms[number - 1].hash_key + atom.hash_key) // 2 + 1, starts[-1] + 2)
            if start <= min(atom.hash_key, shard.last_key - 1):
                starts.append(start)
                firsts.append(number)
                records, size = atom.records, atom.bytes
    ends = [*firsts[1:], len(atoms)]
    return [(at, atoms[a:b]) for at, a, b in zip(starts, firsts, ends, strict=True)]


@dataclass(frozen=True, kw_only=True, slots=True)
class Split:
    """A split of a shard. The upper new shard begins at a hash key."""

    shard: str
    at: int

    def __str__(self) -> str:
        return f"split {self.shard} at hash key {self.at}"


@dataclass(frozen=True, kw_only=True, slots=True)
class Merge:
    """A merge of a shard with its upper neighbor."""

    shard: str
    adjacent: str

    def __str__(self) -> str:
        return f"merge {self.shard} with {self.adjacent}"


Step = Split | Merge


def next_step(present: Collection[StreamShard], wanted: Collection[int]) -> Step | None:
    """The next call. ``None`` if the stream has the wanted shards.

    It depends on nothing but the present shards, so an interrupted change continues where it ended.
    Splits come first, so that no shard is fuller than before at any time. A shard is cut in the
    middle of its cuts, so that its descendants have few generations: a query reads one after the
    other. The wanted shards are given by their lowest hash keys.
    """
    ordered = sorted(present, key=lambda it: it.first_key)
    borders, goal = sorted(wanted), frozenset(wanted)
    for shard in ordered:
        low, high = bisect_right(borders, shard.first_key), bisect_right(borders, shard.last_key)
        if low < high:
            return Split(shard=shard.id, at=borders[(low + high) // 2])
    for lower, upper in pairwise(ordered):
        if upper.first_key not in goal:
            return Merge(shard=lower.id, adjacent=upper.id)
    return None


def all_steps(present: Collection[StreamShard], wanted: Collection[int]) -> list[Step]:
    """All calls in their order. New shards are called ``new-1``, ``new-2`` and so on."""
    shards, steps = list(present), list[Step]()
    new = 0
    while step := next_step(shards, wanted):
        steps.append(step)
        names = [f"new-{new + 1}", f"new-{new + 2}"]
        old = {it.id: it for it in shards}
        if isinstance(step, Split):
            whole = old.pop(step.shard)
            born = [
                replace(whole, id=names[0], last_key=step.at - 1),
                replace(whole, id=names[1], first_key=step.at),
            ]
        else:
            upper = old.pop(step.adjacent)
            born = [replace(old.pop(step.shard), id=names[0], last_key=upper.last_key)]
        new += len(born)
        shards = [*old.values(), *born]
    return steps
