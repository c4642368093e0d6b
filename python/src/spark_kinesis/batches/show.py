"""Shows the micro-batches of a checkpoint, for people and for machines."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

from rich.table import Table

if TYPE_CHECKING:
    from collections.abc import Iterator, Mapping, Sequence
    from datetime import datetime

    from .counting import Count
    from .history import BatchReads, ShardRead


@dataclass(frozen=True)
class Row:
    """A micro-batch.

    Attributes:
        batch: what it has read.
        counts: the records of its parts of shards. ``None`` if they were not counted.
    """

    batch: BatchReads
    counts: Sequence[Count] | None

    @property
    def records(self) -> int:
        """Number of records."""
        return sum(it.records for it in self.counts or ())

    @property
    def bytes(self) -> int:
        """Bytes of their data."""
        return sum(it.bytes for it in self.counts or ())

    @property
    def is_complete(self) -> bool:
        """Whether none of the records has expired."""
        return all(it.is_complete for it in self.counts or ())


def document(row: Row) -> dict[str, Any]:
    """A micro-batch as JSON."""
    batch = row.batch
    reads = None if batch.reads is None else [_read_json(it) for it in batch.reads]
    total = {"records": row.records, "bytes": row.bytes, "complete": row.is_complete}
    return {
        "batch": batch.number,
        "planned": batch.planned,
        "completed": batch.completed,
        "shards": reads,
        "newShards": batch.started,
        **({} if row.counts is None else total),
    }


def _read_json(read: ShardRead) -> dict[str, str]:
    return {
        "stream": read.stream,
        "shard": read.shard,
        "from": read.start.text,
        "to": read.end.text,
    }


def table(rows: Sequence[Row]) -> Table:
    """A line per micro-batch."""
    shown = Table("batch", "planned", "completed", "shards", box=None, pad_edge=False)
    if any(row.counts is not None for row in rows):
        shown.add_column("records", justify="right")
        shown.add_column("bytes", justify="right")
    for row in rows:
        batch = row.batch
        cells = [str(batch.number), _time(batch.planned), _time(batch.completed), _read(batch)]
        if row.counts is not None:
            totals = (row.records, row.bytes)
            cells += [_at_least(it, is_complete=row.is_complete) for it in totals]
        shown.add_row(*cells)
    return shown


def notes(rows: Sequence[Row]) -> Iterator[str]:
    """What a reader of the table must know."""
    if any(row.counts is None for row in rows):
        yield "records: --count (it reads them again, because a checkpoint has no such number)"
    expired = [str(row.batch.number) for row in rows if not row.is_complete]
    if expired:
        numbers = ", ".join(expired)
        yield f"at least: some records have expired, or may have, of micro-batches {numbers}"


def shards(found: Sequence[BatchReads], counts: Mapping[ShardRead, Count]) -> Table:
    """A line per micro-batch and shard."""
    shown = Table("batch", "shard", "from", "to", box=None, pad_edge=False)
    if counts:
        shown.add_column("records", justify="right")
    for batch in found:
        for read in batch.reads or ():
            number = [_counted(counts[read])] if counts else []
            places = (read.start.place, read.end.place)
            shown.add_row(str(batch.number), read.shard, *places, *number)
    return shown


def _counted(count: Count) -> str:
    return _at_least(count.records, is_complete=count.is_complete)


def _at_least(number: int, *, is_complete: bool) -> str:
    return f"{number:,}" if is_complete else f"at least {number:,}"


def _read(batch: BatchReads) -> str:
    if batch.reads is None:
        return "unknown: the log has lost its start"
    new = f", {len(batch.started)} new" if batch.started else ""
    return f"{len(batch.reads)} read{new}"


def _time(at: datetime | None) -> str:
    return at.strftime("%Y-%m-%d %H:%M:%S") if at else "-"
