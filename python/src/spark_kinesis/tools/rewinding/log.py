"""Rewrites the log of a checkpoint, and keeps the old one aside.

Spark continues after the newest completed micro-batch N, at its end in ``offsets/N``. This end
becomes the new position. A query that still runs has the old one in its memory, and would undo the
move by planning micro-batch N + 1. So an empty N + 1 is planned for it: Spark refuses to plan it
again, and the query fails. The next start completes it without a record, and in real-time mode
forgets it. We have tried this with Spark 3.5, 4.0 and 4.3. A completed N + 1 would do the same to a
running query, but Spark's sink for files would miss this number for ever.
"""

from __future__ import annotations

import json
from dataclasses import dataclass
from datetime import datetime, timezone
from typing import TYPE_CHECKING, Any

from spark_kinesis._errors import CheckpointError
from spark_kinesis._offsets import encode
from spark_kinesis.tools.facts.checkpoints import REWINDS, initial_path
from spark_kinesis.tools.facts.offsets import parse_log

if TYPE_CHECKING:
    from collections.abc import Collection, Mapping, Sequence

    from spark_kinesis._offsets import SourceOffset
    from spark_kinesis.tools.facts.checkpoints import Checkpoint
    from spark_kinesis.tools.facts.files import CheckpointFiles


@dataclass(frozen=True, kw_only=True)
class LogPosition:
    """Where a query continues."""

    batch: int | None  # the newest completed micro-batch. ``None`` if there is none.
    planned: tuple[int, ...]  # later micro-batches, which are not completed
    source: str  # number or name of the source
    offset: SourceOffset  # its position

    @property
    def path(self) -> str:
        """The file with the position."""
        return initial_path(self.source) if self.batch is None else f"offsets/{self.batch}"


def read_position(
    checkpoint: Checkpoint, wanted: str | None, kept: Collection[str], *, drop_planned: bool
) -> LogPosition:
    """Where a query continues, if it may be moved."""
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
    if planned and not drop_planned and not all(map(checkpoint.is_empty, planned)):
        raise CheckpointError(
            f"{where}: micro-batch {planned[0]} was planned and not completed. A sink may have "
            "written it, in part or as a whole. Start the query once more until the micro-batch is "
            "completed, or forget it with --drop-planned."
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


def require_stopped(checkpoint: Checkpoint, position: LogPosition) -> None:
    """Refuse a checkpoint whose query has run since ``read_position``."""
    completed = checkpoint.completed()
    newest = completed[-1] if completed else None
    if (newest, _later(checkpoint, newest)) != (position.batch, position.planned):
        raise CheckpointError(
            f"the checkpoint {checkpoint.location} has changed: its query runs. Stop the query "
            "first."
        )


def rewrite(
    checkpoint: Checkpoint,
    position: LogPosition,
    offset: SourceOffset,
    note: Mapping[str, Any],
    now: datetime,
) -> str:
    """Write a new position. The old files and a note go to a folder of the checkpoint.

    If it is interrupted, the query continues at the old or at the new position.

    Returns:
        The folder, relative to the checkpoint.
    """
    files = checkpoint.files
    require_stopped(checkpoint, position)
    folder = f"{REWINDS}/{now.astimezone(timezone.utc):%Y%m%dT%H%M%S.%f}Z"
    paths = [position.path, *(f"offsets/{it}" for it in position.planned)]
    old = {path: files.read(path) or "" for path in paths}
    for path, text in old.items():
        files.create(f"{folder}/{path if path == position.path else _dropped(path)}", text)
    files.create(f"{folder}/note.json", json.dumps(note, indent=2) + "\n")
    for path in paths[1:]:
        files.remove(path)
    new = _moved(old[position.path], position, encode(offset), checkpoint.location)
    files.replace(position.path, new)
    following = None if position.batch is None else f"offsets/{position.batch + 1}"
    is_blocked = following is None or _is_created(files, following, new)
    running = _newer(checkpoint, position) if is_blocked else following
    if running is None:
        return folder
    if is_blocked and following is not None:
        files.remove(following)
    for path, text in old.items():
        if path == position.path or files.read(path) is None:
            files.replace(path, text)
    raise CheckpointError(
        f"the checkpoint {checkpoint.location}: the query runs. It has continued from its old "
        f"position with {running} while the command wrote the new one, so the command has written "
        "the old one again. Stop the query, and run the command again."
    )


def _is_created(files: CheckpointFiles, path: str, text: str) -> bool:
    try:
        files.create(path, text)
    except FileExistsError:
        return False
    return True


def _newer(checkpoint: Checkpoint, position: LogPosition) -> str | None:
    """What a running query has planned or completed after the micro-batch that is planned for it.

    Without a completed micro-batch, none is planned for it: the first one has no end to repeat.
    """
    newest = -1 if position.batch is None else position.batch
    known = newest if position.batch is None else newest + 1
    done = [f"commits/{it}" for it in checkpoint.completed() if it > newest]
    return next(iter([*done, *(f"offsets/{it}" for it in _later(checkpoint, known))]), None)


def _dropped(path: str) -> str:
    return path.replace("offsets/", "dropped/", 1)


def _later(checkpoint: Checkpoint, batch: int | None) -> tuple[int, ...]:
    """The micro-batches in the log after one."""
    return tuple(it for it in checkpoint.planned() if batch is None or it > batch)


def _moved(text: str, position: LogPosition, offset: str, location: str) -> str:
    """The file with another end of one source. The format and the other sources stay."""
    if position.batch is None:
        return offset
    logged = parse_log(text, f"{location}/{position.path}")
    return logged.with_offset(position.source, offset).text
