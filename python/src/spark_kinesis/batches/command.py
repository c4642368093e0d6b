"""The command ``spark-kinesis batches``."""

from __future__ import annotations

import time
from functools import partial
from typing import TYPE_CHECKING

import click

from spark_kinesis._errors import CheckpointError
from spark_kinesis.stream import describe
from spark_kinesis.stream.clock import ServiceClock
from spark_kinesis.tools.cli import (
    SOURCE,
    Connection,
    connection_options,
    print_json,
    progress_bar,
    screen,
)

from .counting import Count, count
from .history import BatchReads, ShardRead, history, read_numbers, total_shards
from .show import Row, document, notes, shards, table

if TYPE_CHECKING:
    from collections.abc import Mapping, Sequence
    from datetime import datetime

    from spark_kinesis.checkpoint import Checkpoint


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
    shard. If some have expired, or may have, it shows "at least" before the number, and in JSON
    "complete": false. Without `--count`, the command does not call Kinesis.

    Calls with --count: DescribeStreamSummary, GetShardIterator and GetRecords.

    \b
    Examples:
      spark-kinesis batches --checkpoint /checkpoints/orders
      spark-kinesis batches --checkpoint s3://bucket/checkpoints/orders --batches 120-124 --count

    Exit codes: 0 success, 2 an error.
    """
    found = _chosen(connection.checkpoint(location), source, last, chosen)
    counts = _count(connection, found) if with_counts else None
    rows = [_row(it, counts) for it in found]
    if as_json:
        for row in rows:
            print_json(document(row))
        return
    screen().print(table(rows))
    for note in notes(rows):
        screen().print(note)
    if with_shards:
        screen().print(shards(found, counts or {}))


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
    client, clock = connection.kinesis(), ServiceClock()
    clock.follow(client)
    streams = {read.stream for it in found for read in it.reads or ()}
    retention = {it: describe(client, it).retention for it in streams}

    def horizon(stream: str) -> datetime:
        return clock.now() - retention[stream]

    counts: dict[ShardRead, Count] = {}
    with progress_bar() as bar:
        task = bar.add_task("reading", total=total_shards(found))
        for read in (read for it in found for read in it.reads or ()):
            counts[read] = count(client, read, time.sleep, partial(horizon, read.stream))
            bar.advance(task)
    return counts


def _row(batch: BatchReads, counts: Mapping[ShardRead, Count] | None) -> Row:
    return Row(batch, None if counts is None else [counts[it] for it in batch.reads or ()])
