"""The logs in a checkpoint: what Spark planned, and what it completed."""

from __future__ import annotations

from functools import cached_property
from typing import TYPE_CHECKING

from spark_kinesis._errors import CheckpointError

from .batch import Batch, json_object, read_batch
from .offset import SourceOffset, decode, is_kinesis

if TYPE_CHECKING:
    from datetime import datetime

    from .files import CheckpointFiles

REWINDS = "rewinds"


class Checkpoint:
    """The checkpoint of a streaming query. Nothing here changes it."""

    def __init__(self, files: CheckpointFiles) -> None:
        """Read nothing yet.

        Args:
            files: the files; see ``open_files``.
        """
        self.files = files

    @property
    def location(self) -> str:
        """The folder, as the user gave it."""
        return self.files.location

    @cached_property
    def query_id(self) -> str | None:
        """Spark's ID of the query. ``None`` if the query never started."""
        text = self.files.read("metadata")
        return (
            None if text is None else str(json_object(text, f"{self.location}/metadata").get("id"))
        )

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
        """A micro-batch as it ended. ``spark-kinesis rewind`` may have moved its end since.

        Raises:
            CheckpointError: as ``batch``.
        """
        path = self._rewound.get(number)
        text = None if path is None else self.files.read(path)
        return (
            self.batch(number) if path is None or text is None else self._parsed(number, path, text)
        )

    @cached_property
    def _rewound(self) -> dict[int, str]:
        """The files with the first ends of micro-batches whose ends were moved."""
        found: dict[int, str] = {}
        for folder in self.files.names(REWINDS):
            path = f"{REWINDS}/{folder}"
            file = f"{path}/note.json"
            note = json_object(self.files.read(file) or "{}", f"{self.location}/{file}")
            number = note.get("afterBatch")
            if isinstance(number, int):
                found.setdefault(number, f"{path}/offsets/{number}")
        return found

    def _parsed(self, number: int, path: str, text: str) -> Batch:
        return read_batch(number, text, f"{self.location}/{path}")

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

        Args:
            wanted: number or name of the source; default: the only one.

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
        """A Kinesis source.

        Args:
            batch: a micro-batch of the query.
            wanted: number or name of the source; default: the only one.

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
