"""The checkpoint of a streaming query: what Spark planned and completed, where it continues.

``docs/reference/checkpoint-format.md`` describes the offsets. Nothing here changes a checkpoint.
"""

from __future__ import annotations

import json
from collections.abc import Mapping
from dataclasses import dataclass
from functools import cached_property
from typing import TYPE_CHECKING, Any

from spark_kinesis._errors import CheckpointError
from spark_kinesis._offsets import SourceOffset, decode, is_kinesis, stream_name
from spark_kinesis._times import from_millis

from .files import open_files
from .offsets import parse_log

if TYPE_CHECKING:
    from datetime import datetime

    from .files import CheckpointFiles

REWINDS = "rewinds"
LogState = tuple[tuple[int, ...], tuple[int, ...]]
"""The micro-batches that were planned, and those that were completed."""


@dataclass(frozen=True, kw_only=True)
class Batch:
    """A micro-batch in the offset log.

    Attributes:
        sources: all sources: their numbers as text, counted from 0, or their names if Spark stores
            names.
        offsets: the end of each source as JSON text. A source without an end is absent.
    """

    number: int  # its ID, from 0
    planned: datetime | None  # when Spark planned it. ``None`` if the log does not say so.
    sources: tuple[str, ...]
    offsets: Mapping[str, str]


class Checkpoint:
    """The checkpoint of a streaming query."""

    def __init__(self, files: CheckpointFiles) -> None:
        """Read nothing yet. ``open_files`` returns the files."""
        self.files = files

    @classmethod
    def of(cls, checkpoint: Checkpoint | str) -> Checkpoint:
        """A checkpoint as it is, or the one in a folder or at a URL.

        Raises:
            MissingPackageError: if a URL needs a package that is not installed.
            CheckpointError: if the URL cannot be opened.
        """
        return cls(open_files(checkpoint)) if isinstance(checkpoint, str) else checkpoint

    @property
    def location(self) -> str:
        """The folder, as the user gave it, without keys."""
        return self.files.location

    @cached_property
    def query_id(self) -> str | None:
        """Spark's ID of the query. ``None`` if the query never started."""
        text = self.files.read("metadata")
        return None if text is None else str(self._json(text, "metadata").get("id"))

    def planned(self) -> list[int]:
        """The IDs of the micro-batches in the log, in order. Spark keeps about the last 100."""
        return _numbers(self.files.names("offsets"))

    def completed(self) -> list[int]:
        """The IDs of the micro-batches that were completed, in order."""
        return _numbers(self.files.names("commits"))

    def unfinished(self) -> tuple[int, ...]:
        """The IDs of the micro-batches after the newest completed one, in order."""
        newest = max(self.completed(), default=-1)
        return tuple(it for it in self.planned() if it > newest)

    def is_empty(self, number: int) -> bool:
        """Whether a micro-batch ends where the one before has ended, as after a move."""
        before = f"offsets/{number - 1}"
        if self.files.read(before) is None:
            return False
        return self.batch(number).offsets == self.batch(number - 1).offsets

    def state(self) -> LogState:
        """What was planned and completed. A query that runs changes it."""
        return tuple(self.planned()), tuple(self.completed())

    def batch(self, number: int) -> Batch:
        """A micro-batch.

        Raises:
            CheckpointError: if the log does not contain it, or cannot be read.
        """
        path = f"offsets/{number}"
        text = self.files.read(path)
        if text is None:
            raise CheckpointError(f"the checkpoint {self.location} {self._why_missing(number)}")
        return self._parsed(number, path, text)

    def read_batch(self, number: int) -> Batch:
        """A micro-batch as it ended. ``spark-kinesis rewind`` may have moved its end since."""
        path = self._rewound.get(number)
        text = None if path is None else self.files.read(path)
        if path is None or text is None:
            return self.batch(number)
        return self._parsed(number, path, text)

    @cached_property
    def _rewound(self) -> dict[int, str]:
        """The files with the first ends of micro-batches whose ends were moved."""
        found: dict[int, str] = {}
        for folder in self.files.names(REWINDS):
            path = f"{REWINDS}/{folder}"
            note = self._json(self.files.read(f"{path}/note.json") or "{}", f"{path}/note.json")
            number = note.get("afterBatch")
            if isinstance(number, int):
                found.setdefault(number, f"{path}/offsets/{number}")
        return found

    def _parsed(self, number: int, path: str, text: str) -> Batch:
        logged = parse_log(text, f"{self.location}/{path}")
        planned = self._json(logged.metadata or "{}", path).get("batchTimestampMs")
        return Batch(
            number=number,
            planned=from_millis(planned) if planned else None,
            sources=tuple(logged.offsets),
            offsets={source: end for source, end in logged.offsets.items() if end is not None},
        )

    def _json(self, text: str, path: str) -> dict[str, Any]:
        """A JSON object. Empty for JSON of another type."""
        try:
            node = json.loads(text)
        except ValueError as error:
            raise CheckpointError(f"{self.location}/{path} is not JSON: {error}") from error
        return node if isinstance(node, dict) else {}

    def completed_at(self, number: int) -> datetime | None:
        """When a micro-batch was completed. ``None`` if it was not, or if the log has lost it."""
        return self.files.modified(f"commits/{number}")

    def initial(self, source: str) -> SourceOffset | None:
        """The position at which a source began. ``None`` if it never did."""
        path = initial_path(source)
        text = self.files.read(path)
        return None if text is None else decode(text, f"{self.location}/{path}")

    def begun(self) -> list[str]:
        """The sources that have a folder of their own, by number or name."""
        return [it for it in self.files.names("sources") if not it.startswith(".")]

    def start(self, wanted: str | None = None) -> tuple[str, SourceOffset]:
        """A Kinesis source, and where it began. Without any micro-batch, too.

        Raises:
            CheckpointError: if the query never ran, there is no such source, or several and none
                was named.
        """
        found = {it: offset for it in self.begun() if (offset := self.initial(it)) is not None}
        if not found:
            raise CheckpointError(
                f"the checkpoint {self.location} has no position: it is not a checkpoint, or its "
                "query never ran"
            )
        source = self._chosen(list(found), wanted)
        return source, found[source]

    def position(self, batch: Batch, source: str) -> SourceOffset:
        """The end of a micro-batch in a Kinesis source.

        Raises:
            CheckpointError: if the source has no offset, or is not a Kinesis source.
        """
        where = f"{self.location}/offsets/{batch.number}, source {source},"
        if source not in batch.offsets:
            raise CheckpointError(f"{where} has no offset")
        return decode(batch.offsets[source], where)

    def kinesis_sources(self, batch: Batch) -> list[str]:
        """The Kinesis sources, by number or name."""
        return [source for source, text in batch.offsets.items() if is_kinesis(text)]

    def source(self, batch: Batch, wanted: str | None = None) -> str:
        """A Kinesis source of a micro-batch.

        Raises:
            CheckpointError: if there is no such source, or several and none was named.
        """
        return self._chosen(self.kinesis_sources(batch), wanted)

    def _chosen(self, sources: list[str], wanted: str | None) -> str:
        if wanted is not None and wanted in sources:
            return wanted
        if wanted is None and len(sources) == 1:
            return sources[0]
        found = ", ".join(sources) or "none"
        advice = f"there is no source {wanted}" if wanted is not None else "name one of them"
        raise CheckpointError(
            f"the checkpoint {self.location}: {advice}. Its Kinesis sources are: {found}"
        )

    def _why_missing(self, number: int) -> str:
        planned = self.planned()
        if not planned:
            return "has no micro-batch: it is not a checkpoint, or its query never ran"
        return f"has no micro-batch {number}. It has those from {planned[0]} to {planned[-1]}."


def initial_path(source: str) -> str:
    """Where a source keeps the position at which it began."""
    return f"sources/{source}/initial-offset.json"


def _numbers(names: list[str]) -> list[int]:
    return sorted(int(name) for name in names if name.isdecimal())


def next_position(checkpoint: Checkpoint, wanted: str | None = None) -> SourceOffset:
    """Where a source continues: after the newest completed micro-batch, or else where it began.

    Raises:
        CheckpointError: if there is no such source, several and none was named, or no position.
    """
    planned, completed = checkpoint.state()
    if not planned:
        return checkpoint.start(wanted)[1]
    source = checkpoint.source(checkpoint.batch(planned[-1]), wanted)
    if completed:
        batch = checkpoint.batch(completed[-1])
        if source in batch.offsets:
            return checkpoint.position(batch, source)
    found = checkpoint.initial(source)
    if found is None:
        raise CheckpointError(
            f"the checkpoint {checkpoint.location} has no completed micro-batch, and no start of "
            f"source {source}: it is not a checkpoint of a query that reads from Kinesis, or its "
            "query never ran"
        )
    return found


def next_positions(checkpoint: Checkpoint) -> dict[str, SourceOffset]:
    """Where each Kinesis source continues, by its number or name.

    Raises:
        CheckpointError: if there is no micro-batch in the log, or no position of a source.
    """
    planned = checkpoint.planned()
    sources = checkpoint.kinesis_sources(checkpoint.batch(planned[-1] if planned else 0))
    return {it: next_position(checkpoint, it) for it in sources}


def chosen_streams(offset: SourceOffset, stream: str | None) -> list[str]:
    """The ARNs of the streams that a command is for, in order.

    Raises:
        CheckpointError: if the query does not read this stream, or reads several with this name.
    """
    arns = sorted(offset.streams)
    if stream is None:
        return arns
    found = [arn for arn in arns if stream in (arn, stream_name(arn))]
    if len(found) != 1:
        names = ", ".join(arns)
        raise CheckpointError(
            f"{stream!r} is not one stream of the query. Its streams are {names}."
        )
    return found
