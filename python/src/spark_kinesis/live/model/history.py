"""The snapshots of a while, for charts."""

from __future__ import annotations

from collections import deque
from collections.abc import Iterator
from dataclasses import dataclass
from datetime import datetime
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from .snapshot import Snapshot

KEPT = 600


@dataclass(frozen=True, kw_only=True)
class Point:
    """The totals at a moment. What is unknown is ``None``.

    Attributes:
        at: the time.
        lag: the largest lag of a shard, in seconds.
        arriving: records per second that arrive.
        processed: records per second that the query processes.
    """

    at: datetime
    lag: float | None
    arriving: float | None
    processed: float | None


class History:
    """The last snapshot, and the totals of the last 600."""

    def __init__(self, first: Snapshot) -> None:
        """Begin with a snapshot."""
        self._points: deque[Point] = deque(maxlen=KEPT)
        self.last = first
        self.add(first)

    def __iter__(self) -> Iterator[Point]:
        """The totals, oldest first."""
        return iter(list(self._points))

    def add(self, snapshot: Snapshot) -> None:
        """Add a snapshot."""
        totals = snapshot.totals
        self.last = snapshot
        self._points.append(
            Point(
                at=snapshot.at,
                lag=None if totals.lag is None else totals.lag.total_seconds(),
                arriving=totals.arriving,
                processed=totals.processed,
            )
        )
