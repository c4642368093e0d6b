"""The way of a query through its micro-batches, for views from inside and from outside. No I/O."""

from __future__ import annotations

from collections import deque
from typing import TYPE_CHECKING

from .forecast import Step
from .snapshot import complete

if TYPE_CHECKING:
    from datetime import datetime

    from spark_kinesis._offsets import SourceOffset


class Way:
    """The steps of a query, oldest first: its micro-batches that moved the source.

    Spark also numbers those that did not: after a watermark has advanced, and if only another
    source has moved. It is unknown which of those that nobody has seen moved this one.
    """

    def __init__(self, most: int) -> None:
        """Nothing is known. It keeps so many steps."""
        self.steps: deque[Step] = deque(maxlen=most)
        self._number = 0  # Spark's number of the last step
        self._end: SourceOffset | None = None  # of the last step
        self._next_moves = 0  # number of steps of which the step before was seen, too
        self._next_numbers = 0  # number of micro-batches from one to the other, in total

    def add(
        self,
        number: int,
        at: datetime,
        start: SourceOffset | None,
        end: SourceOffset,
        rows: int | None = None,
    ) -> bool:
        """Add a later micro-batch. Returns whether it moved the source.

        Args:
            number: its ID.
            at: when it was planned.
            start: where it began. ``None`` if unknown.
            end: where it ended.
            rows: number of rows that it read. ``None`` if unknown.
        """
        if start == end:
            return False
        place = self._place(number, start)
        self.steps.append(Step(at=at, number=place, complete=complete(end), rows=rows))
        self._number, self._end = number, end
        return True

    def _place(self, number: int, start: SourceOffset | None) -> float:
        """The place of a micro-batch among those that moved the source."""
        if self._end is None:
            return 0
        numbers, place = number - self._number, self.steps[-1].number
        if start == self._end:  # None between them has moved the source.
            self._next_moves += 1
            self._next_numbers += numbers
            return place + 1
        usual = self._next_numbers / self._next_moves if self._next_moves else 1
        return place + max(1, numbers / usual)
