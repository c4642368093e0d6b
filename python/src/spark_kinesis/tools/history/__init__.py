"""The micro-batches of a query: what each has read, and how much. The command is ``batches``."""

from __future__ import annotations

import re
import time
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from datetime import datetime
from functools import partial
from typing import TYPE_CHECKING

from spark_kinesis._boto import aws_errors, code_of
from spark_kinesis._errors import CheckpointError
from spark_kinesis._offsets import Progress
from spark_kinesis._times import parsed
from spark_kinesis.tools.facts.checkpoints import Checkpoint
from spark_kinesis.tools.facts.losses import ServiceClock, created_again
from spark_kinesis.tools.facts.records import iterator_request, pause_after
from spark_kinesis.tools.facts.streams import describe

if TYPE_CHECKING:
    from mypy_boto3_kinesis import KinesisClient
    from mypy_boto3_kinesis.type_defs import GetRecordsOutputTypeDef

    from spark_kinesis._offsets import ShardOffset, SourceOffset
    from spark_kinesis.tools.facts.checkpoints import Batch

__all__ = ["BatchReads", "Count", "ShardRead", "all_reads", "batches", "count_reads", "total"]

SHARE = 2 / 5  # of the read quota of a shard
MAX_RECORDS = 2_000


@dataclass(frozen=True, kw_only=True)
class ShardRead:
    """The part of a shard that a micro-batch has read."""

    stream: str  # ARN of the stream
    shard: str  # ID of the shard
    start: ShardOffset  # progress before the micro-batch
    end: ShardOffset  # progress after it


@dataclass(frozen=True, kw_only=True)
class BatchReads:
    """A micro-batch and what it has read.

    Attributes:
        reads: one per shard that it has read. ``None`` if the log has lost its start.
    """

    number: int  # its ID
    planned: datetime | None  # when Spark planned it. ``None`` if the log does not say so.
    completed: datetime | None  # when it was completed. ``None`` if it was not.
    reads: tuple[ShardRead, ...] | None
    started: tuple[str, ...] = ()  # shards that the next micro-batch can read for the first time


@dataclass(frozen=True)
class Count:
    """What lies between two positions."""

    records: int  # number of Kinesis records. An aggregated record counts once.
    bytes: int  # bytes of their data
    is_complete: bool = True  # whether these are all. If not, some have expired, or may have.


def batches(
    checkpoint: Checkpoint | str,
    *,
    source: str | None = None,
    last: int | None = None,
    numbers: str | None = None,
) -> list[BatchReads]:
    """The micro-batches of a checkpoint, in order. Spark keeps about the last 100.

    Args:
        checkpoint: the checkpoint, or its folder or URL.
        source: number or name of the source in the query; default: the only Kinesis source.
        last: the newest so many. Default: all that the log contains.
        numbers: IDs such as ``120-124,130``, in place of ``last``.

    Raises:
        CheckpointError: if the checkpoint has no such micro-batch or cannot be read.
    """
    opened = Checkpoint.of(checkpoint)
    if numbers is None:
        return list(history(opened, source=source, last=last))
    spans = read_spans(numbers)
    found = {it.number: it for it in history(opened, source=source)}
    for first, end in spans:
        # A range may be long by mistake: only its two ends are looked up.
        missing = next((it for it in (first, end) if it not in found), None)
        if missing is not None:
            opened.batch(missing)  # explains which there are
    return [found[it] for it in sorted(found) if any(a <= it <= b for a, b in spans)]


def history(
    checkpoint: Checkpoint, *, source: str | None = None, last: int | None = None
) -> Iterator[BatchReads]:
    """The micro-batches of a checkpoint, one after the other. ``batches`` has the arguments."""
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
        if before is None or created_again(arn, parsed(stream.created), parsed(before.created)):
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


def read_spans(text: str) -> list[tuple[int, int]]:
    """The first and last IDs of micro-batches from a text such as ``120-124,130``."""
    found = []
    for part in text.split(","):
        match = re.fullmatch(r"(\d{1,18})(?:-(\d{1,18}))?", part.strip())
        if match is None or int(match[2] or match[1]) < int(match[1]):
            raise CheckpointError(f"{part.strip()!r} is not a micro-batch such as 120 or 120-124")
        found.append((int(match[1]), int(match[2] or match[1])))
    return found


def all_reads(found: Iterable[BatchReads]) -> list[ShardRead]:
    """What some micro-batches have read."""
    reads: list[ShardRead] = []
    for it in found:
        if it.reads is None:
            raise CheckpointError(
                f"the start of micro-batch {it.number} is not in the log any more, so its records "
                "cannot be counted: choose later ones with --batches"
            )
        reads += it.reads
    return reads


def count_reads(
    client: KinesisClient, reads: Sequence[ShardRead], on_read: Callable[[], None] = lambda: None
) -> Mapping[ShardRead, Count]:
    """Read the records of some micro-batches again, slowly, and count them."""
    clock = ServiceClock()
    clock.follow(client)
    retention = {it: describe(client, it).retention for it in {read.stream for read in reads}}

    def horizon(stream: str) -> datetime:
        return clock.now() - retention[stream]

    counts: dict[ShardRead, Count] = {}
    for read in reads:
        counts[read] = count(client, read, time.sleep, partial(horizon, read.stream))
        on_read()
    return counts


def count(
    client: KinesisClient,
    read: ShardRead,
    sleep: Callable[[float], None],
    horizon: Callable[[], datetime],
) -> Count:
    """Read a part of a shard again, slowly, and count."""
    if read.end.progress not in (Progress.AFTER, Progress.FINISHED):
        raise ValueError(f"{read.end.text} is not the end of a micro-batch")
    iterator = _begin(client, read)
    first = last = None
    records = size = 0
    while iterator:
        answer = client.get_records(
            ShardIterator=iterator, Limit=MAX_RECORDS, StreamARN=read.stream
        )
        inside, is_end = _page(answer, read)
        if inside:
            first, last = inside[0][0] if first is None else first, inside[-1][0]
        records, size = records + len(inside), size + sum(it for _, it in inside)
        iterator = None if is_end else answer.get("NextShardIterator")
        if iterator:
            sleep(pause_after(answer["Records"], SHARE))
    return Count(records, size, _is_complete(read, first, last, horizon()))


def _begin(client: KinesisClient, read: ShardRead) -> str | None:
    """The iterator at the start. ``None`` if the shard has expired with all its records."""
    request = iterator_request(read.start)
    try:
        asked = client.get_shard_iterator(StreamARN=read.stream, ShardId=read.shard, **request)
    except aws_errors() as error:
        if code_of(error) != "ResourceNotFoundException":
            raise
        return None
    return asked["ShardIterator"]


def _page(answer: GetRecordsOutputTypeDef, read: ShardRead) -> tuple[list[tuple[int, int]], bool]:
    """Numbers and sizes of the records of a page in the part, and whether the part ends there."""
    found = [(int(it["SequenceNumber"]), len(it["Data"])) for it in answer["Records"]]
    last = read.end.sequence_number
    if read.end.progress is not Progress.AFTER or last is None:
        return found, False
    inside = [it for it in found if it[0] <= last]
    is_behind = not found and not answer.get("MillisBehindLatest", 0)
    return inside, len(inside) < len(found) or is_behind or bool(found and found[-1][0] >= last)


def _is_complete(read: ShardRead, first: int | None, last: int | None, horizon: datetime) -> bool:
    """Whether a part still has the records with which it began and ended.

    The oldest records expire first. If the first record of the part is unknown, all of them arrived
    after the time up to which the shard had been read before.
    """
    start, end = read.start, read.end
    if end.progress is Progress.AFTER and last != end.sequence_number:
        return False
    if end.first is not None:
        return first == end.first
    if start.progress is not Progress.AFTER and last is None:
        return True  # The micro-batch was the first to read the shard, and it was empty.
    return start.complete_until is not None and start.complete_until > horizon


def total(reads: Sequence[ShardRead] | None, counts: Mapping[ShardRead, Count]) -> Count:
    """The count of several parts."""
    found = [counts[it] for it in reads or ()]
    return Count(
        sum(it.records for it in found),
        sum(it.bytes for it in found),
        all(it.is_complete for it in found),
    )
