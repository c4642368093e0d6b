"""Rewrites the position of a source in a checkpoint, and keeps the old one aside.

Spark continues after the newest completed micro-batch N, at its end in ``offsets/N``. This end
becomes the new position. A query that still runs has the old one in its memory, and would undo the
move by planning micro-batch N + 1. So an empty N + 1 is planned for it: Spark refuses to plan it
again, and the query fails. The next start completes it without a record, and in real-time mode
forgets it. We have tried this with Spark 3.5, 4.0 and 4.3. A completed N + 1 would do the same to a
running query, but Spark's sink for files would miss this number for ever.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING

from spark_kinesis._errors import CheckpointError
from spark_kinesis._offsets import encode
from spark_kinesis.tools.changes import watch_query

if TYPE_CHECKING:
    from collections.abc import Sequence

    from spark_kinesis._offsets import SourceOffset
    from spark_kinesis.tools.facts.checkpoints import Batch, Checkpoint, LogState


@dataclass(frozen=True, kw_only=True)
class LogPosition:
    """Where a query continues."""

    state: LogState  # the log as it was read
    batch: Batch  # the newest completed micro-batch
    planned: tuple[int, ...]  # later micro-batches, which are not completed
    source: str  # number or name of the source
    others: tuple[str, ...]  # the other sources
    offset: SourceOffset  # the position of the source


def read_position(
    checkpoint: Checkpoint, wanted: str | None = None, *, drop_planned: bool = False
) -> LogPosition:
    """Where a query continues, if it may be moved."""
    where = f"the checkpoint {checkpoint.location}"
    if checkpoint.files.names("state"):
        raise CheckpointError(
            f"{where} belongs to a query that keeps state, such as an aggregation or a "
            "deduplication. Its state would not fit another position. Start the query with a new "
            "checkpoint."
        )
    state = checkpoint.state()
    if not state[1]:
        raise CheckpointError(
            f"{where} has no completed micro-batch. Start the query with a new checkpoint and "
            "another starting position."
        )
    planned = checkpoint.unfinished()
    if planned and not drop_planned and not all(map(checkpoint.is_empty, planned)):
        raise CheckpointError(
            f"{where}: micro-batch {planned[0]} was planned and not completed. A sink may have "
            "written it, in part or as a whole. Start the query once more until the micro-batch is "
            "completed, or forget it with --drop-planned."
        )
    batch = checkpoint.batch(state[1][-1])
    source = checkpoint.source(batch, wanted)
    return LogPosition(
        state=state,
        batch=batch,
        planned=planned,
        source=source,
        others=tuple(it for it in batch.sources if it != source),
        offset=checkpoint.position(batch, source),
    )


def rewrite(
    checkpoint: Checkpoint,
    position: LogPosition,
    offset: SourceOffset,
    plan: Sequence[str],
    folder: str,
) -> None:
    """Write a new position. The old files and the plan go to a folder of the checkpoint.

    If it is interrupted, the query continues at the old or at the new position.
    """
    files, newest = checkpoint.files, f"offsets/{position.batch.number}"
    watch_query(checkpoint, position.state)
    dropped = {f"offsets/{it}": f"{folder}/dropped/{it}" for it in position.planned}
    old = {path: files.read(path) or "" for path in (newest, *dropped)}
    for path, text in old.items():
        files.create(dropped.get(path, f"{folder}/{path}"), text)
    files.create(f"{folder}/plan.txt", "".join(f"{line}\n" for line in plan))
    for path in dropped:
        files.remove(path)
    new = position.batch.with_end(position.source, encode(offset)).text
    files.replace(newest, new)
    following = f"offsets/{position.batch.number + 1}"
    try:
        files.create(following, new)
    except FileExistsError:
        running: str | None = following
    else:
        running = _newer(checkpoint, position.batch.number)
        if running is None:
            return
        files.remove(following)
    for path, text in old.items():
        if path == newest or files.read(path) is None:
            files.replace(path, text)
    raise CheckpointError(
        f"the checkpoint {checkpoint.location}: the query runs. It has continued from its old "
        f"position with {running} while the command wrote the new one, so the command has written "
        "the old one again. Stop the query, and run the command again."
    )


def _newer(checkpoint: Checkpoint, batch: int) -> str | None:
    """What a running query has completed, or planned after the micro-batch planned for it."""
    planned, completed = checkpoint.state()
    done = [f"commits/{it}" for it in completed if it > batch]
    return next(iter([*done, *(f"offsets/{it}" for it in planned if it > batch + 1)]), None)
