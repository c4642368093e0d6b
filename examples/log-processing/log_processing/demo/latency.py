"""Time from the arrival of an event at Kinesis until it was stored."""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from .ledger import StoredItem

Span = tuple[int, int]  # from, to: milliseconds since 1970


@dataclass(frozen=True)
class Percentiles:
    """Seconds that 50 % and 99 % of the events do not exceed."""

    p50: float
    p99: float

    def __str__(self) -> str:
        return f"p50={self.p50:.2f} s p99={self.p99:.2f} s"


def percentiles(millis: Sequence[int]) -> Percentiles:
    """The percentiles of some times; 0 without any."""
    ordered = sorted(millis) or [0]
    p50, p99 = (ordered[math.ceil(share * len(ordered)) - 1] / 1000 for share in (0.50, 0.99))
    return Percentiles(p50, p99)


def within(items: Sequence[StoredItem], spans: Sequence[Span]) -> list[int]:
    """The times of the events that arrived within one of the spans."""
    return [it.millis for it in items if any(low <= it.arrival < high for low, high in spans)]
