"""Where to cut the hash range of a shard, so that all parts carry about the same load."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

from .spread import Atom, Spread, sums

_ROUNDS = 12
# A part beside a hot key is worth a shard of its own if it uses this part of the target.
_WORTH = 1 / 16


@dataclass(frozen=True, kw_only=True, slots=True)
class Part:
    """A part of a shard after the cuts.

    Attributes:
        start: lowest hash key, inclusive.
        atoms: its load.
    """

    start: int
    atoms: tuple[Atom, ...]


def parts_of(spread: Spread, most: float) -> list[Part]:
    """Cut a shard into as few parts as possible that use at most a part of the quota.

    Of all cuts with this number of parts, these have the smallest largest part. One hash key that
    uses more is a part alone, as far as its neighbors carry enough load to be worth a shard.

    Args:
        spread: the load by hash key.
        most: largest used part of the quota, from 0 to 1.
    """
    parts = _greedy(spread, most)
    if len(parts) == 1:
        return parts
    low, high = 0.0, most
    for _ in range(_ROUNDS):
        middle = (low + high) / 2
        tried = _greedy(spread, middle)
        if len(tried) <= len(parts):
            high, parts = middle, tried
        else:
            low = middle
    return _absorbed(spread, parts, most)


def used(spread: Spread, atoms: Sequence[Atom]) -> float:
    """The used part of a quota that some atoms do not exceed."""
    return spread.bound(*sums(atoms)).used


def _greedy(spread: Spread, most: float) -> list[Part]:
    """From the lowest hash key on, each part takes as much as it may."""
    shard = spread.shard
    starts, firsts = [shard.first_key], [0]
    records = bytes_ = 0.0
    for number, atom in enumerate(spread.atoms):
        more = spread.bound(records + atom.records, bytes_ + atom.bytes).used
        if more > most and number > firsts[-1]:
            start = _between(spread.atoms[number - 1], atom, starts[-1], shard.last_key)
            if start is not None:
                starts.append(start)
                firsts.append(number)
                records = bytes_ = 0.0
        records, bytes_ = records + atom.records, bytes_ + atom.bytes
    ends = [*firsts[1:], len(spread.atoms)]
    return [
        Part(start=start, atoms=spread.atoms[first:end])
        for start, first, end in zip(starts, firsts, ends, strict=True)
    ]


def _between(low: Atom, high: Atom, first: int, last: int) -> int | None:
    """A start above ``low`` and up to ``high``. Both shards then have two hash keys or more.

    The local Kinesis refuses a shard of one hash key, as the service is said to do.
    """
    start = max((low.hash_key + high.hash_key) // 2 + 1, first + 2)
    return start if low.hash_key < start <= min(high.hash_key, last - 1) else None


def _absorbed(spread: Spread, parts: Sequence[Part], most: float) -> list[Part]:
    """Leave parts with hardly any load with the hot key beside them.

    Otherwise, each advice would narrow the shard of a hot key a little more, without any use.
    """
    kept: list[Part] = []
    for part in parts:
        before = kept[-1] if kept else None
        if before is not None and _belong_together(spread, before, part, most):
            kept[-1] = Part(start=before.start, atoms=before.atoms + part.atoms)
        else:
            kept.append(part)
    return kept


def _belong_together(spread: Spread, low: Part, high: Part, most: float) -> bool:
    return (_has_hot_key(spread, low, most) and used(spread, high.atoms) < most * _WORTH) or (
        _has_hot_key(spread, high, most) and used(spread, low.atoms) < most * _WORTH
    )


def hottest(spread: Spread, part: Part) -> Atom | None:
    """The sampled hash key with the most load."""
    sampled = [it for it in part.atoms if it.point is not None]
    return max(sampled, key=lambda it: spread.load(it.records, it.bytes).used, default=None)


def _has_hot_key(spread: Spread, part: Part, most: float) -> bool:
    """Whether one hash key of a part uses more than its part of the quota, as the sample says."""
    atom = hottest(spread, part)
    return atom is not None and spread.load(atom.records, atom.bytes).used > most
