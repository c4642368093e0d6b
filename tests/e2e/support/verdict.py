"""The comparison of rows with the records written: each record once, each key in order."""

from __future__ import annotations

from collections import Counter, defaultdict
from dataclasses import dataclass
from itertools import pairwise

from tests.e2e.support.streams import Written


@dataclass(frozen=True)
class Collected:
    """A record that a query delivered."""

    batch: int
    shard: str
    sequence: int
    key: str
    n: int


def verdict(written: list[Written], rows: list[Collected]) -> dict[str, int]:
    """The number of records lost, repeated, or delivered before an earlier one of their key.

    Within a batch the rows stand as they were delivered.
    """
    seen = Counter(Written(row.key, row.n) for row in rows)
    per_key: dict[str, list[int]] = defaultdict(list)
    for row in sorted(rows, key=lambda r: r.batch):
        per_key[row.key].append(row.n)
    return {
        "lost": len(set(written) - set(seen)),
        "duplicated": sum(times - 1 for times in seen.values()),
        "out_of_order": sum(b < a for ns in per_key.values() for a, b in pairwise(ns)),
        "foreign": len(set(seen) - set(written)),
    }


def assert_exactly_once_in_order(written: list[Written], rows: list[Collected]) -> None:
    """Check that each record came once, and each key in the order of the writes."""
    assert written, "the test wrote nothing"
    assert len({(row.shard, row.sequence) for row in rows}) == len(rows), "a row key came twice"
    good = {"lost": 0, "duplicated": 0, "out_of_order": 0, "foreign": 0}
    assert verdict(written, rows) == good


def first_of_each(arrived: list[tuple[str, int]]) -> dict[str, list[int]]:
    """The numbers of each key, in the order of their first delivery."""
    per_key: dict[str, dict[int, None]] = defaultdict(dict)
    for key, n in arrived:
        per_key[key].setdefault(n)
    return {key: list(numbers) for key, numbers in per_key.items()}


def assert_written_in_order(
    counts: dict[str, int], arrived: list[tuple[str, int]], *, may_repeat: bool = False
) -> None:
    """Check that each key has the numbers from 0 up to its count, in order, each once.

    Where they may repeat, each number's first arrival is what counts.
    """
    assert counts, "nothing was to be written"
    assert first_of_each(arrived) == {key: list(range(count)) for key, count in counts.items()}
    assert may_repeat or len(arrived) == sum(counts.values()), "a record came twice"
