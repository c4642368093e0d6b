"""The micro-batches of a query: when they ran, and what each has read. The command is ``batches``.

It reads Spark's log in the checkpoint, and calls no service but the store of the checkpoint.
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from datetime import datetime
from typing import TYPE_CHECKING

import click
from rich.table import Table

from spark_kinesis._offsets import stream_names
from spark_kinesis._times import parsed, time_text
from spark_kinesis.tools.facts.checkpoints import Checkpoint
from spark_kinesis.tools.facts.losses import created_again

from .cli import (
    SOURCE,
    Connection,
    connection_options,
    json_option,
    print_json,
    screen,
    storage_option,
)

if TYPE_CHECKING:
    from spark_kinesis._offsets import SourceOffset
    from spark_kinesis.tools.facts.checkpoints import Batch

__all__ = ["BatchReads", "ShardRead", "batches"]


@dataclass(frozen=True, kw_only=True)
class ShardRead:
    """The part of a shard that a micro-batch has read."""

    stream: str  # name of the stream, or its ARN if the query reads several with this name
    shard: str  # ID of the shard
    start: str  # position before the micro-batch, as checkpoints have it
    end: str  # position after it


@dataclass(frozen=True, kw_only=True)
class BatchReads:
    """A micro-batch and what it has read."""

    number: int  # its ID
    planned: datetime | None  # when Spark planned it. ``None`` if the log does not say so.
    completed: datetime | None  # when it was completed. ``None`` if it was not.
    reads: tuple[ShardRead, ...] | None  # one per shard. ``None`` if the log has lost its start.


def batches(
    checkpoint: Checkpoint | str,
    *,
    source: str | None = None,
    last: int | None = None,
) -> list[BatchReads]:
    """The micro-batches of a checkpoint, in order. Spark keeps about the last 100.

    Args:
        checkpoint: the checkpoint, or its folder or URL.
        source: number or name of the source in the query; default: the only Kinesis source.
        last: the newest so many. Default: all that the log contains.

    Raises:
        CheckpointError: if the checkpoint has no micro-batch or source, or cannot be read.
    """
    checkpoint = Checkpoint.of(checkpoint)
    numbers = checkpoint.planned()
    if not numbers:
        checkpoint.batch(0)  # explains why there is none
    chosen = numbers[-last:] if last else numbers
    wanted = checkpoint.source(checkpoint.batch(chosen[-1]), source)
    start: SourceOffset | None = None
    if chosen[0] == 0:
        start = checkpoint.initial(wanted)
    elif chosen[0] - 1 in numbers:
        start = _end(checkpoint, checkpoint.batch(chosen[0] - 1), wanted)
    found = []
    for number in chosen:
        batch = checkpoint.batch(number)
        end = _end(checkpoint, checkpoint.read_batch(number), wanted)
        reads = None if start is None or end is None else tuple(_reads(start, end))
        completed = checkpoint.completed_at(number)
        found.append(
            BatchReads(number=number, planned=batch.planned, completed=completed, reads=reads)
        )
        start = _end(checkpoint, batch, wanted) or start
    return found


def _end(checkpoint: Checkpoint, batch: Batch, source: str) -> SourceOffset | None:
    return checkpoint.position(batch, source) if source in batch.offsets else None


def _reads(start: SourceOffset, end: SourceOffset) -> Iterator[ShardRead]:
    """What lies between two positions.

    A shard that only the end contains is read later. One that only the start contains had been
    read to its end before.
    """
    names = stream_names(set(end.streams))
    for arn, stream in end.streams.items():
        before = start.streams.get(arn)
        if before is None or created_again(arn, parsed(stream.created), parsed(before.created)):
            continue
        for shard, after in stream.shards.items():
            begun = before.shards.get(shard)
            if begun is not None and begun.place != after.place:
                yield ShardRead(stream=names[arn], shard=shard, start=begun.text, end=after.text)


@click.command("batches")
@click.option("--checkpoint", "location", required=True, metavar="PATH", help="folder or URL")
@click.option(
    "--source", type=SOURCE, help="number or name of the source, if the query has several"
)
@click.option("--last", type=click.IntRange(1), default=20, show_default=True, help="how many")
@json_option
@storage_option
@connection_options
def command(
    *,
    connection: Connection,
    location: str,
    source: str | None,
    last: int,
    as_json: bool,
) -> None:
    """List the micro-batches of a checkpoint: when they ran, and how many shards they read.

    Spark keeps about the last 100 of them. --json prints a line per micro-batch, also with the
    positions of each shard. The command does not call Kinesis.

    \b
    Examples:
      spark-kinesis batches --checkpoint /checkpoints/orders
      spark-kinesis batches --checkpoint s3://bucket/checkpoints/orders --last 100 --json

    Exit codes: 0 success, 2 an error.
    """
    found = batches(connection.checkpoint(location), source=source, last=last)
    if as_json:
        for it in found:
            print_json(it)
        return
    table = Table("batch", "planned", "completed", "shards read", box=None, pad_edge=False)
    for it in found:
        times = (time_text(at) if at else "-" for at in (it.planned, it.completed))
        read = "unknown: the log has lost its start" if it.reads is None else str(len(it.reads))
        table.add_row(str(it.number), *times, read)
    screen().print(table)
