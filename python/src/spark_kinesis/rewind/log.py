"""Rewrites the log of a checkpoint, and keeps the old one aside."""

from __future__ import annotations

import json
from dataclasses import dataclass
from datetime import datetime, timezone
from typing import TYPE_CHECKING, Any

from spark_kinesis._errors import CheckpointError
from spark_kinesis.checkpoint.log import REWINDS, initial_path
from spark_kinesis.checkpoint.logged import parse
from spark_kinesis.checkpoint.offset import encode

if TYPE_CHECKING:
    from collections.abc import Collection, Mapping, Sequence

    from spark_kinesis.checkpoint import Checkpoint, SourceOffset


@dataclass(frozen=True, kw_only=True)
class LogPosition:
    """Where a query continues.

    Attributes:
        batch: the newest completed micro-batch. ``None`` if there is none.
        planned: later micro-batches, which are not completed.
        source: number or name of the source.
        offset: its position.
    """

    batch: int | None
    planned: tuple[int, ...]
    source: str
    offset: SourceOffset

    @property
    def path(self) -> str:
        """The file with the position."""
        return initial_path(self.source) if self.batch is None else f"offsets/{self.batch}"


def read_position(
    checkpoint: Checkpoint, wanted: str | None, kept: Collection[str], *, drop_planned: bool
) -> LogPosition:
    """Where a query continues, if it may be moved.

    Args:
        checkpoint: the checkpoint.
        wanted: number or name of the source; default: the only Kinesis source.
        kept: numbers or names of the other sources, which continue where they are.
        drop_planned: whether to forget micro-batches that are not completed.

    Raises:
        CheckpointError: if the query keeps state, has other sources that are not among ``kept``,
            has micro-batches that are not completed, or never ran.
    """
    where = f"the checkpoint {checkpoint.location}"
    if checkpoint.files.names("state"):
        raise CheckpointError(
            f"{where} belongs to a query that keeps state, such as an aggregation or a "
            "deduplication. Its state would not fit another position. Start the query with a new "
            "checkpoint."
        )
    completed = checkpoint.completed()
    batch = completed[-1] if completed else None
    planned = checkpoint.unfinished()
    if planned and not drop_planned:
        raise CheckpointError(
            f"{where}: micro-batch {planned[0]} was planned and not completed. A sink may have "
            "written it, and would ignore the next micro-batch with this number. Start the query "
            "once more until the micro-batch is completed, or forget it with --drop-planned."
        )
    source, offset, sources = _source(checkpoint, batch, wanted)
    others = [it for it in sources if it != source and it not in kept]
    if others:
        names = ", ".join(others)
        raise CheckpointError(
            f"{where} has other sources: {names}. They would continue where they are. If this is "
            f"right, name each of them with --keep, for example --keep {others[0]}."
        )
    return LogPosition(batch=batch, planned=planned, source=source, offset=offset)


def _source(
    checkpoint: Checkpoint, batch: int | None, wanted: str | None
) -> tuple[str, SourceOffset, Sequence[str]]:
    """The source, its position, and all sources."""
    if batch is None:
        return *checkpoint.start(wanted), checkpoint.begun()
    found = checkpoint.batch(batch)
    source = checkpoint.source(found, wanted)
    return source, checkpoint.position(found, source), found.sources


def rewrite(
    checkpoint: Checkpoint,
    position: LogPosition,
    offset: SourceOffset,
    note: Mapping[str, Any],
    now: datetime,
) -> str:
    """Write a new position. The old files and a note go to a folder of the checkpoint.

    If it is interrupted, the query continues at the old or at the new position.

    Args:
        checkpoint: the checkpoint.
        position: the old position.
        offset: the new position.
        note: what the move skips and what comes again.
        now: the time, which names the folder.

    Returns:
        The folder, relative to the checkpoint.

    Raises:
        CheckpointError: if the query has run since ``read_position``. A query that runs and has
            planned no micro-batch since then is not noticed.
    """
    files = checkpoint.files
    completed = checkpoint.completed()
    newest = completed[-1] if completed else None
    if (newest, _later(checkpoint, newest)) != (position.batch, position.planned):
        raise CheckpointError(
            f"the checkpoint {checkpoint.location} has changed: stop the query first."
        )
    folder = f"{REWINDS}/{now.astimezone(timezone.utc):%Y%m%dT%H%M%S.%f}Z"
    path = f"{checkpoint.location}/{position.path}"
    text = files.read(position.path) or ""
    files.write(f"{folder}/{position.path}", text)
    files.write(f"{folder}/note.json", json.dumps(note, indent=2) + "\n")
    for batch in position.planned:
        files.move(f"offsets/{batch}", f"{folder}/dropped/{batch}")
    files.write(position.path, _moved(text, position, encode(offset), path))
    _require_still_stopped(checkpoint, position, folder)
    return folder


def _later(checkpoint: Checkpoint, batch: int | None) -> tuple[int, ...]:
    """The micro-batches in the log after one."""
    return tuple(it for it in checkpoint.planned() if batch is None or it > batch)


def _require_still_stopped(checkpoint: Checkpoint, position: LogPosition, folder: str) -> None:
    """Notice a query that has planned or completed a micro-batch while the command wrote.

    It continues from the old position, which only its memory has. The log must have it again before
    this micro-batch can run once more.
    """
    planned = _later(checkpoint, position.batch)
    completed = checkpoint.completed()
    done = completed[-1] if completed else None
    if not planned and done == position.batch:
        return
    place = checkpoint.location
    copies = [(f"{folder}/{position.path}", position.path)]
    copies += [
        (f"{folder}/dropped/{it}", f"offsets/{it}") for it in position.planned if it not in planned
    ]
    steps = ", ".join(f"copy {place}/{old} to {place}/{new}" for old, new in copies)
    raise CheckpointError(
        f"the checkpoint {place}: the query runs. It has continued from its old position with "
        f"micro-batch {planned[0] if planned else done} while the command wrote the new one. Stop "
        f"the query, {steps}, and run the command again."
    )


def _moved(text: str, position: LogPosition, offset: str, where: str) -> str:
    """The file with another end of one source. The format and the other sources stay."""
    if position.batch is None:
        return offset
    return parse(text, where).with_offset(position.source, offset).text
