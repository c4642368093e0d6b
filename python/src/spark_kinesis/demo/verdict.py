"""The comparison: lines lost, delivered twice, or out of order."""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Collection, Iterable
from dataclasses import dataclass

LineKey = tuple[str, int]
"""The identity of a line: its client, and the number of the client's request."""


@dataclass(frozen=True, kw_only=True, slots=True)
class Arrival:
    """A line read from ``parsed``.

    Attributes:
        batch: micro-batch that delivered the line.
        row: row of that micro-batch.
        client: client of the request, which is the partition key.
        number: number of the client's request.
        shard: shard from which the query read the line.
    """

    batch: int
    row: int
    client: str
    number: int
    shard: str

    @property
    def line(self) -> LineKey:
        """The identity of the line."""
        return self.client, self.number


@dataclass(frozen=True, kw_only=True, slots=True)
class Verdict:
    """The result of the comparison.

    Attributes:
        written: number of lines that Kinesis acknowledged.
        read: number of rows that the query delivered.
        lost: number of lines written that no row has.
        duplicated: number of lines in a second row, and of rows with a second line. The latter
            means that a micro-batch ran again with other rows, which must never happen.
        out_of_order: number of rows after a later line of the same client.
        resent: number of records that repeat a row. The sink writes at least once, so it may
            repeat a row when it retries a request or a micro-batch. Readers recognize such records
            by batch and row.
        counted: sum of the counts per status. It must equal ``read``.
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
        """Whether there were lines, and exactly these arrived, once and in order."""
        faults = self.lost + self.duplicated + self.out_of_order
        return self.written > 0 and self.written == self.read == self.counted and faults == 0

    def __str__(self) -> str:
        return (
            f"demo: written={self.written} read={self.read} lost={self.lost} "
            f"duplicated={self.duplicated} out_of_order={self.out_of_order}"
        )


def judge(written: Collection[LineKey], arrivals: Iterable[Arrival], counted: int) -> Verdict:
    """Compare the lines read with the lines written.

    The order is that of the rows in the query: by micro-batch, then by row. The order of the
    records in ``parsed`` is arbitrary, because the sink has several requests in flight.
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
    """The number of numbers that come after a greater one."""
    greatest = steps = 0
    for number in numbers:
        steps += number < greatest
        greatest = max(greatest, number)
    return steps
