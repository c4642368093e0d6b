"""Takes streams over from another consumer, and hands them back to the KCL.

The commands are those of ``spark-kinesis migrate``. Taking over changes nothing of the other
consumer.
"""

from __future__ import annotations

import json
import time
from collections.abc import Callable, Iterable, Iterator, Sequence
from dataclasses import dataclass, replace
from pathlib import Path
from typing import TYPE_CHECKING, Any

from spark_kinesis._errors import CheckpointError, MigrationError
from spark_kinesis._offsets import stream_names
from spark_kinesis.tools.changes import WATCH_SECONDS, watched
from spark_kinesis.tools.facts.checkpoints import (
    Checkpoint,
    LogState,
    chosen_streams,
    next_position,
)
from spark_kinesis.tools.facts.files import open_files
from spark_kinesis.tools.facts.streams import Advance, ignore

from .handing_back import HandBack, plan_hand_back
from .leases import (
    CAPACITY_PER_SECOND,
    Lease,
    create_table,
    kcl_streams,
    require_stopped,
    scan_leases,
    write_leases,
)
from .positions import (
    AWSLABS,
    QUBOLE,
    Ends,
    Stop,
    StopKind,
    StreamStops,
    ends_in_dynamodb,
    ends_in_files,
    read_positions,
    read_stops,
)
from .takeover import StreamMigration, plan_takeover, require_new, write_new

if TYPE_CHECKING:
    from mypy_boto3_kinesis import KinesisClient

    from spark_kinesis._offsets import SourceOffset
    from spark_kinesis.tools.facts.files import CheckpointFiles

__all__ = [
    "AWSLABS",
    "CAPACITY_PER_SECOND",
    "QUBOLE",
    "Ends",
    "HandBack",
    "HandOver",
    "Lease",
    "Stop",
    "StopKind",
    "StreamMigration",
    "StreamStops",
    "TakeOver",
    "ends_in_dynamodb",
    "ends_in_files",
    "hand_back",
    "kcl_streams",
    "read_positions",
    "read_stops",
    "require_stopped",
    "scan_leases",
    "take_over",
    "watch_query",
]


@dataclass(frozen=True, kw_only=True)
class TakeOver:
    """A checkpoint of a new query."""

    files: CheckpointFiles  # its files
    streams: list[StreamMigration]  # where the query begins
    is_written: bool = False  # whether it is there

    @property
    def lines(self) -> Iterator[str]:
        """The plan for people."""
        names = stream_names([it.stream.arn for it in self.streams])
        for it in self.streams:
            yield from it.lines(names[it.stream.arn])

    @property
    def losses(self) -> list[str]:
        """What is lost or may be lost, one sentence per shard."""
        return [text for it in self.streams for text in it.losses]


def take_over(
    streams: Sequence[StreamStops],
    checkpoint: CheckpointFiles | str,
    *,
    kinesis: KinesisClient,
    source: str = "0",
    others: Stop | None = None,
    allow_data_loss: bool = False,
    approve: Callable[[TakeOver], bool] = lambda _: True,
    watch: Callable[[], None] = lambda: None,
    advance: Advance = ignore,
) -> TakeOver:
    """Write the checkpoint of a new query that continues where another consumer stopped.

    ``read_positions``, ``read_stops`` and ``kcl_streams`` return the positions of other consumers.

    Args:
        streams: the streams, and where the other consumer stopped in each shard.
        checkpoint: the files of the new checkpoint, or its folder or URL.
        kinesis: boto3's client of Kinesis, in the region of the streams.
        source: number of the source in the new query, from 0, or its name.
        others: where to begin in shards that have nothing to do with any position. ``None`` refuses
            them.
        allow_data_loss: whether to write although unread records have expired or are skipped.
        approve: is called with the plan, before anything is written. If it returns false, nothing
            is.
        watch: raises an error if the other consumer still runs. It is called before writing.
        advance: is called with the number of shards of a stream that are examined, and with that of
            all.

    Raises:
        MigrationError: if the positions do not fit the streams, if records are lost, or if the
            checkpoint belongs to a query that has begun.
    """
    files = open_files(checkpoint) if isinstance(checkpoint, str) else checkpoint
    require_new(files, source)
    found = [plan_takeover(kinesis, it, others=others, advance=advance) for it in streams]
    plan = TakeOver(files=files, streams=found)
    if not approve(plan):
        return plan
    if plan.losses and not allow_data_loss:
        raise MigrationError(" ".join([*plan.losses, "Nothing was written."]))
    watch()
    write_new(files, source, found)
    return replace(plan, is_written=True)


def watch_query(checkpoint: Checkpoint, before: LogState, seconds: float) -> None:
    """Refuse a query that has planned or completed a micro-batch since its state was read."""
    if watched(checkpoint.state, seconds) != before:
        raise CheckpointError(
            f"the query of the checkpoint {checkpoint.location} is running: it has planned or "
            "completed a micro-batch while the command watched. Stop it, and run the command again."
        )


@dataclass(frozen=True, kw_only=True)
class HandOver:
    """Leases for a KCL application.

    Attributes:
        kept: the file with the old leases, one item of DynamoDB per line. ``None`` without one.
    """

    table: str  # name of the lease table
    seen: list[Lease]  # the leases that were there
    streams: list[HandBack]  # the new leases
    planned: tuple[int, ...]  # micro-batches that are planned and not completed
    kept: Path | None = None
    is_written: bool = False  # whether the new leases are there

    @property
    def lines(self) -> Iterator[str]:
        """The plan for people."""
        names = stream_names([it.arn for it in self.streams])
        for it in self.streams:
            yield from it.lines(names[it.arn])

    @property
    def losses(self) -> list[str]:
        """What is lost or may be lost, one sentence per shard."""
        return [text for it in self.streams for text in it.losses]

    @property
    def part(self) -> str:
        """What to do if the leases were not all written."""
        how = "without --create-table" if self.kept is None else "with another --backup"
        return (
            "Only a part of the leases may have been written. Run the command again "
            f"{how}. Or take it back: {self.undo}."
        )

    @property
    def undo(self) -> str:
        """What to do to take it back."""
        if self.kept is None:
            return f"delete the table {self.table}"
        old = {it.key.prefix + it.key.shard for it in self.seen}
        new = {it.prefix + lease.shard.id for it in self.streams for lease in it.leases}
        added = f", and delete the leases {', '.join(sorted(new - old))}" if new - old else ""
        put = f"put each item of {self.kept} into {self.table}"
        return f"before the application starts, {put}{added}"


def hand_back(
    checkpoint: Checkpoint | str,
    table: str,
    *,
    kinesis: KinesisClient,
    dynamodb: Any,
    backup: Path,
    source: str | None = None,
    stream: str | None = None,
    is_new: bool = False,
    capacity: float = CAPACITY_PER_SECOND,
    watch: float = WATCH_SECONDS,
    allow_data_loss: bool = False,
    approve: Callable[[HandOver], bool] = lambda _: True,
) -> HandOver:
    """Write the positions of a stopped query to the lease table of a stopped KCL application.

    Args:
        checkpoint: the checkpoint, or its folder or URL.
        table: name of the lease table.
        kinesis: boto3's client of Kinesis, in the region of the streams.
        dynamodb: boto3's client of DynamoDB.
        backup: new file for the leases as they are.
        source: number or name of the source, if several are of Kinesis.
        stream: name or ARN of the only stream; default: all.
        is_new: whether to create the table.
        capacity: capacity units of the table to use per second.
        watch: seconds to watch whether the query or the application still runs.
        allow_data_loss: whether to write although unread records have expired.
        approve: is called with the plan, before anything is changed. If it returns false, nothing
            is.

    Raises:
        MigrationError: if the leases do not fit, if records are lost, or if an application runs.
        CheckpointError: if the checkpoint cannot be read, or if the query runs.
    """
    opened = Checkpoint.of(checkpoint)
    before = opened.state()
    seen = [] if is_new else scan_leases(dynamodb, table, capacity)
    plan = HandOver(
        table=table,
        seen=seen,
        streams=_hand_backs(kinesis, next_position(opened, source), stream, seen),
        planned=tuple(it for it in opened.unfinished() if not opened.is_empty(it)),
    )
    if not approve(plan):
        return plan
    if plan.losses and not allow_data_loss:
        raise MigrationError(" ".join([*plan.losses, "No lease was written."]))
    watch_query(opened, before, watch)
    if is_new:
        create_table(dynamodb, table)
    else:
        require_stopped(table, seen, scan_leases(dynamodb, table, capacity))
        _keep(backup, seen)
    done = replace(plan, kept=None if is_new else backup, is_written=True)
    try:
        if is_new:
            dynamodb.get_waiter("table_exists").wait(TableName=table)
        for it in plan.streams:
            write_leases(
                dynamodb, table, it.leases, seen, it.prefix, lambda: time.sleep(1 / capacity)
            )
    except Exception as error:
        raise MigrationError(f"{error or type(error).__name__}. {done.part}") from error
    return done


def _hand_backs(
    kinesis: KinesisClient, offset: SourceOffset, stream: str | None, seen: list[Lease]
) -> list[HandBack]:
    arns = chosen_streams(offset, stream)
    alone = len(arns) == 1
    backs = [plan_hand_back(kinesis, it, offset.streams[it], seen, is_alone=alone) for it in arns]
    if len(backs) > 1 and not backs[0].prefix:
        names = ", ".join(stream_names(arns).values())
        raise MigrationError(
            f"the table is for one stream, and the query reads several: {names}. Choose one with "
            "--stream."
        )
    return backs


def _keep(backup: Path, leases: Iterable[Lease]) -> None:
    try:
        with backup.open("x", encoding="utf-8") as file:
            file.writelines(f"{json.dumps(it.item, sort_keys=True)}\n" for it in leases)
    except OSError as error:
        raise MigrationError(
            f"the old leases cannot be kept in {backup}: {error}. Choose another file with "
            "--backup. Nothing was changed."
        ) from error
