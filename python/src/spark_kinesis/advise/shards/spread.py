"""How the load of a shard is spread over its hash keys, as far as a sample shows it."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from math import sqrt

from .load import Point, Rate, ShardLoad

# With fewer rows, a sample says little about a part of a shard. Then the load counts as even.
LEAST_SAMPLE = 100
# Standard deviations by which a part may carry more than its sample says: one part in 700 does.
_DEVIATIONS = 3.0
_EVEN_PARTS = 256


@dataclass(frozen=True, kw_only=True, slots=True)
class Atom:
    """Load at one hash key, which no split divides.

    Attributes:
        hash_key: the hash key.
        records: its share of the records of the shard, from 0 to 1.
        bytes: its share of the bytes.
        point: the sampled key. ``None`` for a part of the load that counts as even.
    """

    hash_key: int
    records: float
    bytes: float
    point: Point | None = None


@dataclass(frozen=True, kw_only=True, slots=True)
class Spread:
    """The load of a shard by hash key.

    Attributes:
        shard: the shard.
        atoms: the load in the order of hash keys.
        records_known: number of independent sampled records that the shares rest on. ``None`` if
            the load counts as even.
        bytes_known: the same for bytes. A few large records count as few.
    """

    shard: ShardLoad
    atoms: tuple[Atom, ...]
    records_known: float | None
    bytes_known: float | None

    def load(self, records: float, bytes_: float) -> Rate:
        """The load of a part of the shard, as the sample says.

        Args:
            records: share of the records of the shard, from 0 to 1.
            bytes_: share of the bytes.
        """
        peak = self.shard.peak
        return Rate(records=peak.records * records, bytes=peak.bytes * bytes_)

    def bound(self, records: float, bytes_: float) -> Rate:
        """The load that a part of the shard does not exceed, with the error of the sample."""
        return self.load(_bound(records, self.records_known), _bound(bytes_, self.bytes_known))


def spread_of(shard: ShardLoad) -> Spread:
    """The spread of a shard. Without enough samples, the load is even over its hash keys."""
    records = sum(it.records for it in shard.points) + shard.unplaced.records
    bytes_ = sum(it.bytes for it in shard.points) + shard.unplaced.bytes
    if shard.sampled < LEAST_SAMPLE or not records or not bytes_:
        return Spread(
            shard=shard, atoms=tuple(_even(shard, 1.0, 1.0)), records_known=None, bytes_known=None
        )
    atoms = [
        Atom(hash_key=it.hash_key, records=it.records / records, bytes=it.bytes / bytes_, point=it)
        for it in shard.points
    ]
    if shard.unplaced.records:
        rest = shard.unplaced
        atoms += _even(shard, rest.records / records, rest.bytes / bytes_)
        atoms.sort(key=lambda it: it.hash_key)
    return Spread(
        shard=shard,
        atoms=tuple(atoms),
        records_known=float(shard.sampled),
        bytes_known=_independent(shard),
    )


def _even(shard: ShardLoad, records: float, bytes_: float) -> Iterable[Atom]:
    width = shard.last_key - shard.first_key + 1
    count = min(_EVEN_PARTS, width)
    for number in range(count):
        yield Atom(
            hash_key=shard.first_key + (2 * number + 1) * width // (2 * count),
            records=records / count,
            bytes=bytes_ / count,
        )


def _bound(share: float, known: float | None) -> float:
    if known is None:
        return share
    inside = min(1.0, max(0.0, share))
    return min(1.0, inside + _DEVIATIONS * sqrt(inside * (1 - inside) / known))


def _independent(shard: ShardLoad) -> float:
    """How many records of equal size would show the bytes as well as these do."""
    total = sum(it.bytes for it in shard.points)
    squares = sum(it.bytes**2 / max(it.records, 1.0) for it in shard.points)
    return float(shard.sampled) if not squares else max(1.0, min(shard.sampled, total**2 / squares))


def sums(atoms: Sequence[Atom]) -> tuple[float, float]:
    """The shares of records and bytes of some atoms together."""
    return sum(it.records for it in atoms), sum(it.bytes for it in atoms)
