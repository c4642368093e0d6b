"""Made-up traffic: the true load of every key, and samples of it."""

from __future__ import annotations

import random
from bisect import bisect_left
from collections.abc import Sequence
from dataclasses import dataclass
from itertools import accumulate

from spark_kinesis.tools.advising.layout import Atom, Layout, Rate, ShardLoad
from spark_kinesis.tools.advising.measuring import hash_key
from spark_kinesis.tools.facts.streams import HASH_KEYS


@dataclass(frozen=True)
class Traffic:
    """Keys in the order of their hash keys, each with its rate."""

    keys: Sequence[tuple[int, str, Rate]]

    def between(self, first: int, last: int) -> Sequence[tuple[int, str, Rate]]:
        """The keys of a range."""
        begin = bisect_left(self.keys, first, key=lambda it: it[0])
        return self.keys[begin : bisect_left(self.keys, last + 1, key=lambda it: it[0])]

    def load(self, first: int, last: int) -> Rate:
        """The true load of a range."""
        rates = [rate for _, _, rate in self.between(first, last)]
        return Rate(records=sum(it.records for it in rates), bytes=sum(it.bytes for it in rates))


def made_up(chance: random.Random, *, shards: float, hot: int) -> Traffic:
    """Keys with uneven weights that need about this number of shards together.

    Some keys are crowded in one part of the hash range, as with explicit hash keys. ``hot`` of them
    have a large part of a shard's quota, and sometimes more than one.
    """
    count = chance.choice([50, 500, 5000])
    skew = chance.uniform(0.0, 0.9)
    names = [f"key-{number}" for number in range(count)]
    weights = [1 / (number + 10) ** skew for number in range(count)]
    crowd = chance.choice([True, False, False])
    size = chance.choice([100, 1000, 20_000])
    scale = shards / sum(weights)
    keys = []
    for number, (name, weight) in enumerate(zip(names, weights, strict=True)):
        place = HASH_KEYS // 7 + number * 2**100 if crowd and number % 3 == 0 else hash_key(name)
        used = weight * scale if number >= hot else chance.uniform(0.3, 2.0)
        bytes_ = used * min(2**20, 1000 * size)
        keys.append((place, name, Rate(records=bytes_ / size, bytes=bytes_)))
    return Traffic(sorted(keys, key=lambda it: it[0]))


def borders(chance: random.Random, count: int) -> list[tuple[int, int]]:
    """Shards of even or of random widths."""
    if chance.choice([True, False]):
        starts = [number * HASH_KEYS // count for number in range(count)]
    else:
        starts = [0, *sorted(chance.randrange(10, HASH_KEYS - 10) for _ in range(count - 1))]
    return list(zip(starts, [it - 1 for it in starts[1:]] + [HASH_KEYS - 1], strict=True))


def sampled(
    chance: random.Random, traffic: Traffic, ranges: Sequence[tuple[int, int]], rows: int
) -> list[ShardLoad]:
    """What a measurement finds: the rates, and a random sample of each shard."""
    return [
        _shard(chance, traffic, f"shard-{number}", both, rows) for number, both in enumerate(ranges)
    ]


def _shard(
    chance: random.Random, traffic: Traffic, name: str, both: tuple[int, int], rows: int
) -> ShardLoad:
    first, last = both
    keys = traffic.between(first, last)
    load = traffic.load(first, last)
    counted: dict[int, tuple[str, int, float]] = {}
    if keys:
        weights = list(accumulate(rate.records for _, _, rate in keys))
        for place, key, rate in chance.choices(keys, cum_weights=weights, k=rows):
            size = rate.bytes / rate.records
            _, records, before = counted.get(place, (key, 0, 0.0))
            counted[place] = (key, records + 1, before + size)
    total = sum(size for _, _, size in counted.values())
    return ShardLoad(
        id=name,
        first_key=first,
        last_key=last,
        peak=load,
        sampled=rows if keys else 0,
        atoms=tuple(
            Atom(hash_key=place, records=records / rows, bytes=size / total, key=key)
            for place, (key, records, size) in sorted(counted.items())
        ),
    )


def loads_after(traffic: Traffic, layout: Layout) -> list[Rate]:
    """The true load of each shard of a layout."""
    ends = [it - 1 for it in layout.starts[1:]] + [HASH_KEYS - 1]
    return [traffic.load(first, last) for first, last in zip(layout.starts, ends, strict=True)]
