"""The shards that a stream should have."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from math import ceil

from .cuts import Part, hottest, parts_of, used
from .load import Rate, ShardLoad
from .spread import Spread, spread_of, sums


@dataclass(frozen=True, kw_only=True, slots=True)
class Limits:
    """How full shards may be, as parts of the write quota from 0 to 1.

    Attributes:
        most: a shard that uses more is split, until no part uses more. The rest is for bursts
            within a minute and for growth.
        merged: neighbors are merged if they use at most this together. It is less than ``most``,
            so that a little more traffic does not split them again.
    """

    most: float = 0.8
    merged: float = 0.5

    def __post_init__(self) -> None:
        """Check the numbers.

        Raises:
            ValueError: if they are not in the order 0 to merged to most to 1.
        """
        if not 0 <= self.merged <= self.most <= 1 or self.most == 0:
            raise ValueError(
                f"the use after a merge ({self.merged:.0%}) must be from 0 % to the target "
                f"({self.most:.0%}), and the target at most 100 %"
            )


@dataclass(frozen=True, kw_only=True, slots=True)
class HotKey:
    """A hash key that no shard can serve below the target, or that is close to it.

    Attributes:
        key: a partition key with this hash key.
        hash_key: the hash key.
        share: its part of the load of its shard before the change, from 0 to 1.
        used: the part of a shard's write quota that it uses alone.
        used_at_most: the same, with the error of the sample.
    """

    key: str
    hash_key: int
    share: float
    used: float
    used_at_most: float


@dataclass(frozen=True, kw_only=True, slots=True)
class Piece:
    """A shard of the new layout.

    Attributes:
        first_key: lowest hash key, inclusive.
        last_key: highest hash key, inclusive.
        load: expected peak of its writes.
        bound: used part of the quota that it does not exceed, with the error of the sample.
        shards: IDs of the present shards that it has a part of.
        hot: the hash key that keeps it above the target.
    """

    first_key: int
    last_key: int
    load: Rate
    bound: float
    shards: tuple[str, ...]
    hot: HotKey | None = None


@dataclass(frozen=True, kw_only=True, slots=True)
class Layout:
    """The shards that a stream should have, by hash key.

    Attributes:
        pieces: the shards.
        least: number of shards below which the load does not fit, even if it were even.
    """

    pieces: tuple[Piece, ...]
    least: int

    @property
    def starts(self) -> tuple[int, ...]:
        """The lowest hash key of each shard."""
        return tuple(it.first_key for it in self.pieces)

    @property
    def hot(self) -> tuple[HotKey, ...]:
        """The hash keys that no shard can serve below the target."""
        return tuple(it.hot for it in self.pieces if it.hot is not None)


def plan_layout(shards: Sequence[ShardLoad], limits: Limits) -> Layout:
    """Split what is too full, and merge what is nearly empty.

    Args:
        shards: all open shards.
        limits: how full shards may be.
    """
    ordered = sorted(shards, key=lambda it: it.first_key)
    pieces = [piece for shard in ordered for piece in _pieces(shard, limits)]
    total = sum((it.peak for it in ordered), Rate())
    return Layout(
        pieces=tuple(_merged(pieces, limits)), least=max(1, ceil(total.used / limits.most - 1e-9))
    )


def _pieces(shard: ShardLoad, limits: Limits) -> list[Piece]:
    spread = spread_of(shard)
    if shard.peak.used <= limits.most:
        parts = [Part(start=shard.first_key, atoms=spread.atoms)]
    else:
        parts = parts_of(spread, limits.most)
    ends = [part.start - 1 for part in parts[1:]] + [shard.last_key]
    return [_piece(spread, part, end, limits) for part, end in zip(parts, ends, strict=True)]


def _piece(spread: Spread, part: Part, end: int, limits: Limits) -> Piece:
    return Piece(
        first_key=part.start,
        last_key=end,
        load=spread.load(*sums(part.atoms)),
        bound=used(spread, part.atoms),
        shards=(spread.shard.id,),
        hot=_hot_key(spread, part, limits),
    )


def _hot_key(spread: Spread, part: Part, limits: Limits) -> HotKey | None:
    """The hottest key, if it may be too hot for any shard."""
    atom = hottest(spread, part)
    if atom is None or atom.point is None:
        return None
    bound = used(spread, (atom,))
    if bound <= limits.most:
        return None
    load = spread.load(atom.records, atom.bytes)
    return HotKey(
        key=atom.point.key,
        hash_key=atom.hash_key,
        share=load.used / spread.shard.peak.used,
        used=load.used,
        used_at_most=bound,
    )


def _merged(pieces: Sequence[Piece], limits: Limits) -> list[Piece]:
    kept: list[Piece] = []
    for piece in pieces:
        if kept and kept[-1].bound + piece.bound <= limits.merged:
            kept[-1] = _joined(kept[-1], piece)
        else:
            kept.append(piece)
    return kept


def _joined(low: Piece, high: Piece) -> Piece:
    return Piece(
        first_key=low.first_key,
        last_key=high.last_key,
        load=low.load + high.load,
        bound=low.bound + high.bound,
        shards=tuple(dict.fromkeys(low.shards + high.shards)),
    )
