"""The command ``spark-kinesis batches``."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from typing import TYPE_CHECKING, Any

import click
from rich.table import Table

from spark_kinesis._times import time_text
from spark_kinesis.tools.cli import (
    SOURCE,
    Connection,
    connection_options,
    print_json,
    progress_bar,
    screen,
    storage_option,
)

from . import BatchReads, Count, ShardRead, all_reads, count_reads, total
from . import batches as read_batches

if TYPE_CHECKING:
    from datetime import datetime


@click.command("batches")
@click.option("--checkpoint", "location", required=True, metavar="PATH", help="folder or URL")
@click.option(
    "--source", type=SOURCE, help="number or name of the source, if the query has several"
)
@click.option("--last", type=click.IntRange(1), default=20, show_default=True, help="how many")
@click.option("--batches", "chosen", metavar="120-124", help="these micro-batches only")
@click.option("--shards", "with_shards", is_flag=True, help="also show each shard's positions")
@click.option("--count", "with_counts", is_flag=True, help="read the records again to count them")
@click.option("--json", "as_json", is_flag=True, help="print JSON, one line per micro-batch")
@storage_option
@connection_options
def batches(
    *,
    connection: Connection,
    location: str,
    source: str | None,
    last: int,
    chosen: str | None,
    with_shards: bool,
    with_counts: bool,
    as_json: bool,
) -> None:
    """List the micro-batches of a checkpoint: when they ran, and which shards they read.

    Spark keeps about the last 100 of them. The checkpoint does not say how many records a
    micro-batch had. `--count` reads them from Kinesis again with two fifths of the read quota of a
    shard. If some have expired, or may have, it shows "at least" before the number, and in JSON
    "complete": false. Without `--count`, the command does not call Kinesis.

    Calls with --count: DescribeStreamSummary, GetShardIterator and GetRecords.

    \b
    Examples:
      spark-kinesis batches --checkpoint /checkpoints/orders
      spark-kinesis batches --checkpoint s3://bucket/checkpoints/orders --batches 120-124 --count

    Exit codes: 0 success, 2 an error.
    """
    found = read_batches(connection.checkpoint(location), source=source, last=last, numbers=chosen)
    counts = _counts(connection, found) if with_counts else None
    if as_json:
        for it in found:
            print_json(_document(it, counts))
        return
    screen().print(_table(found, counts))
    for note in _notes(found, counts):
        screen().print(note)
    if with_shards:
        screen().print(_shards(found, counts))


def _counts(connection: Connection, found: Sequence[BatchReads]) -> Mapping[ShardRead, Count]:
    reads = all_reads(found)
    with progress_bar() as bar:
        task = bar.add_task("reading", total=len(reads))
        return count_reads(connection.kinesis(), reads, lambda: bar.advance(task))


def _document(batch: BatchReads, counts: Mapping[ShardRead, Count] | None) -> dict[str, Any]:
    shown: dict[str, Any] = {
        "batch": batch.number,
        "planned": batch.planned,
        "completed": batch.completed,
        "shards": None
        if batch.reads is None
        else [
            {"stream": it.stream, "shard": it.shard, "from": it.start.text, "to": it.end.text}
            for it in batch.reads
        ],
        "newShards": batch.started,
    }
    if counts is not None:
        sum_ = total(batch.reads, counts)
        shown |= {"records": sum_.records, "bytes": sum_.bytes, "complete": sum_.is_complete}
    return shown


def _table(found: Sequence[BatchReads], counts: Mapping[ShardRead, Count] | None) -> Table:
    """A line per micro-batch."""
    shown = Table("batch", "planned", "completed", "shards", box=None, pad_edge=False)
    if counts is not None:
        shown.add_column("records", justify="right")
        shown.add_column("bytes", justify="right")
    for it in found:
        cells = [str(it.number), _time(it.planned), _time(it.completed), _read(it)]
        if counts is not None:
            sum_ = total(it.reads, counts)
            cells += [
                _at_least(number, is_complete=sum_.is_complete)
                for number in (sum_.records, sum_.bytes)
            ]
        shown.add_row(*cells)
    return shown


def _notes(found: Sequence[BatchReads], counts: Mapping[ShardRead, Count] | None) -> Iterator[str]:
    """What a reader of the table must know."""
    if counts is None:
        yield "records: --count (it reads them again, because a checkpoint has no such number)"
        return
    expired = [str(it.number) for it in found if not total(it.reads, counts).is_complete]
    if expired:
        numbers = ", ".join(expired)
        yield f"at least: some records have expired, or may have, of micro-batches {numbers}"


def _shards(found: Sequence[BatchReads], counts: Mapping[ShardRead, Count] | None) -> Table:
    """A line per micro-batch and shard."""
    shown = Table("batch", "shard", "from", "to", box=None, pad_edge=False)
    if counts:
        shown.add_column("records", justify="right")
    for batch in found:
        for read in batch.reads or ():
            cells = [str(batch.number), read.shard, read.start.place, read.end.place]
            if counts:
                one = counts[read]
                cells.append(_at_least(one.records, is_complete=one.is_complete))
            shown.add_row(*cells)
    return shown


def _at_least(number: int, *, is_complete: bool) -> str:
    return f"{number:,}" if is_complete else f"at least {number:,}"


def _read(batch: BatchReads) -> str:
    if batch.reads is None:
        return "unknown: the log has lost its start"
    new = f", {len(batch.started)} new" if batch.started else ""
    return f"{len(batch.reads)} read{new}"


def _time(at: datetime | None) -> str:
    return time_text(at) if at else "-"
