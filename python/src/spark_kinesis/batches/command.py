"""The command ``spark-kinesis batches``."""

from __future__ import annotations

import time
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

import click
from rich.table import Table

from spark_kinesis._errors import CheckpointError
from spark_kinesis.cli import (
    SOURCE,
    Connection,
    connection_options,
    print_json,
    progress_bar,
    screen,
)

from .counting import Count, count
from .history import BatchReads, ShardRead, history, read_numbers, total_shards

if TYPE_CHECKING:
    from collections.abc import Mapping, Sequence
    from datetime import datetime

    from spark_kinesis.checkpoint import Checkpoint


@dataclass(frozen=True)
class _Row:
    batch: BatchReads
    counts: Sequence[Count] | None


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
    shard. Otherwise the command does not call Kinesis.

    \b
    Examples:
      spark-kinesis batches --checkpoint /checkpoints/orders
      spark-kinesis batches --checkpoint s3://bucket/checkpoints/orders --batches 120-124 --count
    """
    found = _chosen(connection.checkpoint(location), source, last, chosen)
    counts = _count(connection, found) if with_counts else {}
    rows = [_Row(it, _counts(it, counts) if with_counts else None) for it in found]
    if as_json:
        for row in rows:
            print_json(_json(row))
        return
    screen().print(_table(rows))
    if with_shards:
        screen().print(_shards(found, counts))


def _chosen(
    checkpoint: Checkpoint, source: str | None, last: int, chosen: str | None
) -> list[BatchReads]:
    if chosen is None:
        return list(history(checkpoint, source=source, last=last))
    numbers = read_numbers(chosen)
    found = {it.number: it for it in history(checkpoint, source=source)}
    missing = next((number for number in numbers if number not in found), None)
    if missing is not None:
        checkpoint.batch(missing)  # explains which there are
    return [found[number] for number in numbers]


def _count(connection: Connection, found: Sequence[BatchReads]) -> dict[ShardRead, Count]:
    lost = [it.number for it in found if it.reads is None]
    if lost:
        raise CheckpointError(
            f"the start of micro-batch {lost[0]} is not in the log any more, so its records cannot "
            "be counted: choose later ones with --batches"
        )
    client = connection.kinesis()
    counts: dict[ShardRead, Count] = {}
    with progress_bar() as bar:
        task = bar.add_task("reading", total=total_shards(found))
        for read in (read for it in found for read in it.reads or ()):
            counts[read] = count(client, read, time.sleep)
            bar.advance(task)
    return counts


def _counts(batch: BatchReads, counts: Mapping[ShardRead, Count]) -> list[Count]:
    return [counts[read] for read in batch.reads or ()]


def _json(row: _Row) -> dict[str, Any]:
    batch, counts = row.batch, row.counts
    reads = None if batch.reads is None else [_read_json(it) for it in batch.reads]
    total = {} if counts is None else {"records": sum(it.records for it in counts)}
    size = {} if counts is None else {"bytes": sum(it.bytes for it in counts)}
    return {
        "batch": batch.number,
        "planned": batch.planned,
        "completed": batch.completed,
        "shards": reads,
        "newShards": batch.started,
        **total,
        **size,
    }


def _read_json(read: ShardRead) -> dict[str, str]:
    return {
        "stream": read.stream,
        "shard": read.shard,
        "from": read.start.text,
        "to": read.end.text,
    }


def _table(rows: Sequence[_Row]) -> Table:
    table = Table("batch", "planned", "completed", "shards", box=None, pad_edge=False)
    with_counts = any(row.counts is not None for row in rows)
    if with_counts:
        table.add_column("records", justify="right")
        table.add_column("bytes", justify="right")
    for row in rows:
        batch = row.batch
        cells = [str(batch.number), _time(batch.planned), _time(batch.completed), _read(batch)]
        if with_counts:
            counts = row.counts or ()
            totals = (sum(it.records for it in counts), sum(it.bytes for it in counts))
            cells += [f"{total:,}" for total in totals]
        table.add_row(*cells)
    return table


def _read(batch: BatchReads) -> str:
    if batch.reads is None:
        return "unknown: the log has lost its start"
    new = f", {len(batch.started)} new" if batch.started else ""
    return f"{len(batch.reads)} read{new}"


def _shards(found: Sequence[BatchReads], counts: Mapping[ShardRead, Count]) -> Table:
    table = Table("batch", "shard", "from", "to", box=None, pad_edge=False)
    if counts:
        table.add_column("records", justify="right")
    for batch in found:
        for read in batch.reads or ():
            number = [f"{counts[read].records:,}"] if counts else []
            places = (read.start.place, read.end.place)
            table.add_row(str(batch.number), read.shard, *places, *number)
    return table


def _time(at: datetime | None) -> str:
    return at.strftime("%Y-%m-%d %H:%M:%S") if at else "-"
