"""The figures that the display shows."""

from __future__ import annotations

from collections import deque
from dataclasses import dataclass
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from .books import Totals
    from .shards import Shard

HISTORY_SECONDS = 40


@dataclass(frozen=True, kw_only=True, slots=True)
class MicroBatch:
    """The latest micro-batch with data."""

    id: int
    rows: int
    milliseconds: int


@dataclass(frozen=True, kw_only=True, slots=True)
class Snapshot:
    """The figures at a moment.

    Attributes:
        seconds: time since the start of the demo.
        query: state of the query, in a few words.
        totals: totals of the books.
        shards: shards of the log, open and closed.
        batch: latest micro-batch; ``None`` before the first.
        rates: number of lines written and read in each of the latest seconds.
    """

    seconds: float
    query: str
    totals: Totals
    shards: list[Shard]
    batch: MicroBatch | None
    rates: list[tuple[int, int]]

    @property
    def rate(self) -> tuple[int, int]:
        """The number of lines written and read in the latest second."""
        return self.rates[-1] if self.rates else (0, 0)

    def lag(self, shard: Shard) -> int:
        """The number of lines of a shard that have not arrived."""
        totals = self.totals
        return max(0, totals.written_by_shard.get(shard.id, 0) - self.read(shard))

    def read(self, shard: Shard) -> int:
        """The number of lines of a shard that have arrived."""
        return self.totals.read_by_shard.get(shard.id, 0)


class Rates:
    """The number of lines in each of the latest seconds."""

    def __init__(self) -> None:
        """Start without a second."""
        self._seconds: deque[tuple[int, int]] = deque(maxlen=HISTORY_SECONDS)
        self._last = (0.0, 0, 0)

    def note(self, now: float, written: int, read: int) -> None:
        """Add totals. Only one per second is stored."""
        then, written_then, read_then = self._last
        if (passed := now - then) < 1:
            return
        self._seconds.append(
            (round((written - written_then) / passed), round((read - read_then) / passed))
        )
        self._last = (now, written, read)

    def seconds(self) -> list[tuple[int, int]]:
        """The number of lines written and read in each second, the latest last."""
        return list(self._seconds)
