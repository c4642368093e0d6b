"""Takes streams over from another consumer, and hands them back to the KCL.

The commands are those of ``spark-kinesis migrate``. Taking over changes nothing of the other
consumer.
"""

from __future__ import annotations

import json
import time
from collections.abc import Callable, Iterable, Sequence
from dataclasses import dataclass
from datetime import datetime, timezone
from pathlib import Path
from typing import TYPE_CHECKING, Any

from spark_kinesis._errors import CheckpointError, MigrationError
from spark_kinesis.tools.changes import WATCH_SECONDS, watched
from spark_kinesis.tools.facts import (
    Checkpoint,
    chosen_streams,
    next_position,
    open_files,
    stream_name,
)

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
from .takeover import Joint, StreamMigration, Verdict, plan_takeover, require_new, write_new

if TYPE_CHECKING:
    from mypy_boto3_kinesis import KinesisClient

    from spark_kinesis.tools.facts import CheckpointFiles

__all__ = [
    "AWSLABS",
    "CAPACITY_PER_SECOND",
    "QUBOLE",
    "Ends",
    "HandBack",
    "HandBackPlan",
    "HandedBack",
    "Joint",
    "Stop",
    "StopKind",
    "StreamMigration",
    "StreamStops",
    "Verdict",
    "backup_file",
    "ends_in_dynamodb",
    "ends_in_files",
    "hand_back",
    "kcl_streams",
    "plan_all",
    "plan_takeover",
    "read_positions",
    "read_stops",
    "require_new",
    "require_stopped",
    "scan_leases",
    "take_over",
    "watch_query",
    "write_new",
]


def take_over(
    streams: Sequence[StreamStops],
    checkpoint: CheckpointFiles | str,
    *,
    kinesis: KinesisClient,
    source: str = "0",
    others: Stop | None = None,
    allow_data_loss: bool = False,
) -> list[StreamMigration]:
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

    Raises:
        MigrationError: if the positions do not fit the streams, if records are lost, or if the
            checkpoint belongs to a query that has begun.
    """
    files = open_files(checkpoint) if isinstance(checkpoint, str) else checkpoint
    require_new(files, source)
    found = [plan_takeover(kinesis, it, others=others) for it in streams]
    losses = [text for it in found for text in it.losses]
    if losses and not allow_data_loss:
        raise MigrationError(" ".join([*losses, "Nothing was written."]))
    write_new(files, source, found)
    return found


def watch_query(checkpoint: Checkpoint, seconds: float) -> None:
    """Refuse a query that plans or completes a micro-batch in some seconds.

    Raises:
        CheckpointError: if it does.
    """
    before = checkpoint.state()
    if watched(checkpoint.state, seconds) != before:
        raise CheckpointError(
            f"the query of the checkpoint {checkpoint.location} is running: it has planned or "
            "completed a micro-batch while the command watched. Stop it, and run the command again."
        )


@dataclass(frozen=True, kw_only=True)
class HandedBack:
    """Leases that are written.

    Attributes:
        kept: the file with the leases as they were, one item of DynamoDB per line. ``None`` for a
            new table.
        undo: what to do to take it back.
    """

    kept: Path | None
    undo: str


@dataclass(frozen=True, kw_only=True)
class HandBackPlan:
    """The leases that would be written. Nothing is changed yet.

    Attributes:
        checkpoint: the checkpoint of the query.
        state: what the query had planned and completed.
        table: name of the lease table.
        is_new: whether the table is to be created.
        seen: the leases that are there.
        streams: the new leases.
        planned: micro-batches that are planned and not completed.
    """

    checkpoint: Checkpoint
    state: tuple[tuple[int, ...], tuple[int, ...]]
    table: str
    is_new: bool
    seen: list[Lease]
    streams: list[HandBack]
    planned: tuple[int, ...]

    @property
    def losses(self) -> list[str]:
        """What is lost or may be lost, one sentence per shard."""
        return [text for it in self.streams for text in it.losses]

    def watch(self, dynamodb: Any, capacity: float, seconds: float) -> None:
        """Refuse an application that changes its leases, and a query that runs.

        Raises:
            MigrationError: if the application runs.
            CheckpointError: if the query runs.
        """
        watch_query(self.checkpoint, seconds)
        self._require_stopped(dynamodb, capacity)

    def _require_stopped(self, dynamodb: Any, capacity: float) -> None:
        if self.checkpoint.state() != self.state:
            raise CheckpointError(
                f"the query of the checkpoint {self.checkpoint.location} is running. Stop it, and "
                "run the command again."
            )
        if not self.is_new:
            require_stopped(self.table, self.seen, scan_leases(dynamodb, self.table, capacity))

    def apply(
        self,
        dynamodb: Any,
        capacity: float,
        backup: Path,
        advance: Callable[[], None] = lambda: None,
    ) -> HandedBack:
        """Write the leases, after the old ones are in a file.

        Raises:
            MigrationError: if the file cannot be written, or if an application runs.
        """
        self._require_stopped(dynamodb, capacity)
        if self.is_new:
            create_table(dynamodb, self.table)
        else:
            _keep(backup, self.seen)
        by_key = {it.key.prefix + it.key.shard: it for it in self.seen}

        def pause() -> None:
            advance()
            time.sleep(1 / capacity)

        for it in self.streams:
            write_leases(dynamodb, self.table, it.leases, by_key, it.prefix, pause=pause)
        if self.is_new:
            return HandedBack(kept=None, undo=f"delete the table {self.table}")
        written = {it.prefix + lease.shard.id for it in self.streams for lease in it.leases}
        added = sorted(written - set(by_key))
        more = f", and delete the leases {', '.join(added)}" if added else ""
        undo = f"before the application starts, put each item of {backup} into {self.table}{more}"
        return HandedBack(kept=backup, undo=undo)


def _keep(backup: Path, leases: Iterable[Lease]) -> None:
    lines = [json.dumps(it.item, sort_keys=True) for it in leases]
    try:
        with backup.open("x", encoding="utf-8") as file:
            file.writelines(f"{line}\n" for line in lines)
    except OSError as error:
        raise MigrationError(
            f"the old leases cannot be kept in {backup}: {error}. Choose another file with "
            "--backup. Nothing was changed."
        ) from error


def backup_file(table: str, now: datetime) -> Path:
    """Where the old leases of a table are kept if nothing else was chosen."""
    return Path(f"{table}-leases-{now.astimezone(timezone.utc):%Y%m%dT%H%M%SZ}.jsonl")


def plan_all(
    checkpoint: Checkpoint,
    table: str,
    *,
    kinesis: KinesisClient,
    dynamodb: Any,
    source: str | None = None,
    stream: str | None = None,
    is_new: bool = False,
    capacity: float = CAPACITY_PER_SECOND,
) -> HandBackPlan:
    """Decide the leases of all streams of a query. ``hand_back`` has the arguments."""
    seen = [] if is_new else scan_leases(dynamodb, table, capacity)
    state = checkpoint.state()
    offset = next_position(checkpoint, source)
    arns = chosen_streams(offset, stream)
    alone = len(arns) == 1
    backs = [plan_hand_back(kinesis, it, offset.streams[it], seen, is_alone=alone) for it in arns]
    if len(backs) > 1 and not backs[0].prefix:
        names = ", ".join(stream_name(arn) for arn in arns)
        raise MigrationError(
            f"the table is for one stream, and the query reads several: {names}. Choose one with "
            "--stream."
        )
    return HandBackPlan(
        checkpoint=checkpoint,
        state=state,
        table=table,
        is_new=is_new,
        seen=seen,
        streams=backs,
        planned=checkpoint.unfinished(),
    )


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
) -> HandedBack:
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

    Raises:
        MigrationError: if the leases do not fit, if records are lost, or if an application runs.
        CheckpointError: if the checkpoint cannot be read, or if the query runs.
    """
    opened = Checkpoint(open_files(checkpoint)) if isinstance(checkpoint, str) else checkpoint
    plan = plan_all(
        opened,
        table,
        kinesis=kinesis,
        dynamodb=dynamodb,
        source=source,
        stream=stream,
        is_new=is_new,
        capacity=capacity,
    )
    if plan.losses and not allow_data_loss:
        raise MigrationError(" ".join([*plan.losses, "No lease was written."]))
    plan.watch(dynamodb, capacity, watch)
    return plan.apply(dynamodb, capacity, backup)
