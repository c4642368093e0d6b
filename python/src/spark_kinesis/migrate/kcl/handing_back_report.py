"""Shows the leases that a query hands back."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from typing import TYPE_CHECKING, Any

from spark_kinesis._times import instant
from spark_kinesis.checkpoint.offset import stream_name

if TYPE_CHECKING:
    from .handing_back import HandBack


def lines(table: str, backs: Sequence[HandBack], *, is_written: bool) -> Iterator[str]:
    """A line per lease, and what to configure."""
    for it in backs:
        for lease in it.leases:
            yield f"{stream_name(it.arn)} {lease.shard.id}: {lease.checkpoint} ({lease.sub})"
        if it.begins is not None:
            begins = instant(it.begins)
            yield f"{stream_name(it.arn)}: configure the application to begin at {begins}"
    yield f"Written to table {table}." if is_written else "Nothing was changed."


def document(backs: Sequence[HandBack]) -> list[dict[str, Any]]:
    """The report for machines, one object per stream."""
    return [
        {
            "stream": it.arn,
            "leases": {
                lease.shard.id: {"checkpoint": lease.checkpoint, "subSequenceNumber": lease.sub}
                for lease in it.leases
            },
            "initialPosition": it.begins,
            "losses": it.losses,
        }
        for it in backs
    ]


def warnings(losses: Sequence[str], planned: Sequence[int], *, is_refused: bool) -> Iterator[str]:
    """What the user has to know before the application starts."""
    yield from losses
    if planned:
        yield (
            f"The micro-batch {planned[0]} was planned and not completed. A sink may have written "
            "it, and the application reads its records again."
        )
    if is_refused:
        yield (
            "No lease was written. To continue with the records that are left, set "
            "--allow-data-loss."
        )
