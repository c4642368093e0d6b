"""What each micro-batch of a checkpoint has read, from the offsets at its start and its end."""

from __future__ import annotations

import re
from collections.abc import Iterable, Iterator
from dataclasses import dataclass
from datetime import datetime
from typing import TYPE_CHECKING

from spark_kinesis._errors import CheckpointError

if TYPE_CHECKING:
    from spark_kinesis.checkpoint import Batch, Checkpoint, ShardOffset, SourceOffset


@dataclass(frozen=True, kw_only=True)
class ShardRead:
    """The part of a shard that a micro-batch has read.

    Attributes:
        stream: ARN of the stream.
        shard: ID of the shard.
        start: progress before the micro-batch.
        end: progress after it.
    """

    stream: str
    shard: str
    start: ShardOffset
    end: ShardOffset


@dataclass(frozen=True, kw_only=True)
class BatchReads:
    """A micro-batch and what it has read.

    Attributes:
        number: its ID.
        planned: when Spark planned it. ``None`` if the log does not say so.
        completed: when it was completed. ``None`` if it was not.
        reads: one per shard that it has read. ``None`` if the log has lost its start.
        started: shards that the next micro-batch can read for the first time.
    """

    number: int
    planned: datetime | None
    completed: datetime | None
    reads: tuple[ShardRead, ...] | None
    started: tuple[str, ...] = ()


def history(
    checkpoint: Checkpoint, *, source: str | None = None, last: int | None = None
) -> Iterator[BatchReads]:
    """The micro-batches of a checkpoint, in order.

    Args:
        checkpoint: the checkpoint.
        source: number or name of the source in the query; default: the only Kinesis source.
        last: the newest so many. Default: all that the log contains.

    Raises:
        CheckpointError: if the checkpoint has no micro-batch or cannot be read.
    """
    numbers = checkpoint.planned()
    if not numbers:
        checkpoint.batch(0)  # explains why there is none
    chosen = numbers[-last:] if last else numbers
    newest = checkpoint.batch(chosen[-1])
    wanted = checkpoint.source(newest, source)
    start = _start(checkpoint, chosen[0], wanted)
    for number in chosen:
        batch = checkpoint.batch(number)
        end = _end(checkpoint, checkpoint.read_batch(number), wanted)
        yield BatchReads(
            number=number,
            planned=batch.planned,
            completed=checkpoint.completed_at(number),
            reads=None if start is None or end is None else tuple(shard_reads(start, end)),
            started=() if start is None or end is None else _new(start, end),
        )
        start = _end(checkpoint, batch, wanted) or start


def _start(checkpoint: Checkpoint, number: int, source: str) -> SourceOffset | None:
    """The position before a micro-batch. ``None`` if the log has lost it."""
    if number == 0:
        return checkpoint.initial(source)
    if number - 1 not in checkpoint.planned():
        return None
    return _end(checkpoint, checkpoint.batch(number - 1), source)


def _end(checkpoint: Checkpoint, batch: Batch, source: str) -> SourceOffset | None:
    return checkpoint.position(batch, source) if source in batch.offsets else None


def shard_reads(start: SourceOffset, end: SourceOffset) -> Iterator[ShardRead]:
    """What lies between two positions.

    A shard that only the end contains is read later. One that only the start contains had been
    read to its end before.
    """
    for arn, stream in end.streams.items():
        before = start.streams.get(arn)
        if before is None or before.created != stream.created:
            continue
        for shard, after in stream.shards.items():
            begun = before.shards.get(shard)
            if begun is not None and begun.place != after.place:
                yield ShardRead(stream=arn, shard=shard, start=begun, end=after)


def _new(start: SourceOffset, end: SourceOffset) -> tuple[str, ...]:
    known = {(arn, shard) for arn, it in start.streams.items() for shard in it.shards}
    return tuple(
        shard
        for arn, it in end.streams.items()
        for shard in sorted(it.shards)
        if (arn, shard) not in known
    )


def read_numbers(text: str) -> list[int]:
    """The IDs of micro-batches from a text such as ``120-124,130``, in order.

    Raises:
        CheckpointError: if the text has another form.
    """
    found: set[int] = set()
    for part in text.split(","):
        match = re.fullmatch(r"(\d{1,18})(?:-(\d{1,18}))?", part.strip())
        if match is None or int(match[2] or match[1]) < int(match[1]):
            raise CheckpointError(f"{part.strip()!r} is not a micro-batch such as 120 or 120-124")
        found.update(range(int(match[1]), int(match[2] or match[1]) + 1))
    return sorted(found)


def total_shards(batches: Iterable[BatchReads]) -> int:
    """How many parts of shards some micro-batches have read."""
    return sum(len(batch.reads or ()) for batch in batches)
