"""Was anything lost, delivered twice, or out of order?"""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Collection, Iterable
from dataclasses import dataclass

LineKey = tuple[str, int]
"""What tells a line from every other: its client, and its number among the client's."""


@dataclass(frozen=True, kw_only=True, slots=True)
class Arrival:
    """A line as it was found downstream.

    Attributes:
        batch: the micro-batch that delivered it.
        row: its place among that micro-batch's rows.
        client: whose request it was, the partition key.
        number: of the request, among its client's.
        shard: where the query read it.
    """

    batch: int
    row: int
    client: str
    number: int
    shard: str

    @property
    def line(self) -> LineKey:
        """Which line it is."""
        return self.client, self.number


@dataclass(frozen=True, kw_only=True, slots=True)
class Verdict:
    """The books, closed.

    Attributes:
        written: lines that Kinesis acknowledged.
        read: rows the query delivered.
        lost: lines written that are not among them.
        duplicated: lines beyond one for a row: a line that another row holds already, or
            another line in the same row. The latter is a micro-batch that was run again with
            other rows, which the connector promises never to do.
        out_of_order: rows that come after a later line of the same client.
        resent: records that repeat a row. A sink that delivers at least once may do so when a
            request or a micro-batch is tried again; their batch and row tell, so that no reader
            need count them twice. Stopping between two micro-batches makes none.
        counted: what the counts per status add up to; must be as much as read.
    """

    written: int
    read: int
    lost: int
    duplicated: int
    out_of_order: int
    resent: int
    counted: int

    @property
    def is_flawless(self) -> bool:
        """Whether there were lines, and each arrived once and in order, and nothing else did."""
        faults = self.lost + self.duplicated + self.out_of_order
        return self.written > 0 and self.written == self.read == self.counted and faults == 0

    def __str__(self) -> str:
        return (
            f"demo: written={self.written} read={self.read} lost={self.lost} "
            f"duplicated={self.duplicated} out_of_order={self.out_of_order}"
        )


def judge(written: Collection[LineKey], arrivals: Iterable[Arrival], counted: int) -> Verdict:
    """Hold what was found downstream against what was written.

    The order is the one in which the query had the rows: by micro-batch, then by row. The order
    of the records downstream says nothing, as the sink has several requests in flight.
    """
    arrived = list(arrivals)
    deliveries = {(a.batch, a.row, a.client, a.number) for a in arrived}
    rows = {(batch, row) for batch, row, _, _ in deliveries}
    seen = {(client, number) for _, _, client, number in deliveries}
    numbers: dict[str, list[int]] = defaultdict(list)
    for _, _, client, number in sorted(deliveries):
        numbers[client].append(number)
    return Verdict(
        written=len(written),
        read=len(rows),
        lost=sum(line not in seen for line in written),
        duplicated=len(deliveries) - min(len(rows), len(seen)),
        out_of_order=sum(map(_steps_back, numbers.values())),
        resent=len(arrived) - len(deliveries),
        counted=counted,
    )


def _steps_back(numbers: list[int]) -> int:
    """How many numbers come after a greater one."""
    greatest = steps = 0
    for number in numbers:
        steps += number < greatest
        greatest = max(greatest, number)
    return steps
