"""The logs in a checkpoint: what Spark planned, and what it completed."""

from __future__ import annotations

import json
from dataclasses import dataclass
from functools import cached_property
from typing import TYPE_CHECKING, Any

from spark_kinesis._errors import CheckpointError
from spark_kinesis._times import from_millis

from .offset import SourceOffset, decode, is_kinesis

if TYPE_CHECKING:
    from collections.abc import Mapping
    from datetime import datetime

    from .files import CheckpointFiles

REWINDS = "rewinds"
_VERSION_LINE = "v1"
_NO_OFFSET = "-"
HEAD_LINES = 2


@dataclass(frozen=True, kw_only=True)
class Batch:
    """A micro-batch in the log of offsets.

    Attributes:
        number: its ID, from 0.
        planned: when Spark planned it. ``None`` if the log does not say so.
        offsets: the end of each source as JSON text, by the source's number. A source without
            an end is absent.
        metadata: Spark's own entries, such as the watermark.
    """

    number: int
    planned: datetime | None
    offsets: Mapping[int, str]
    metadata: Mapping[str, Any]


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
        return None if text is None else str(self._json(text, "metadata").get("id"))

    def planned(self) -> list[int]:
        """The IDs of the micro-batches in the log, in order. Spark keeps about the last 100."""
        return _numbers(self.files.names("offsets"))

    def completed(self) -> list[int]:
        """The IDs of the micro-batches that were completed, in order."""
        return _numbers(self.files.names("commits"))

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
            note = self._json(self.files.read(f"{path}/note.json") or "{}", f"{path}/note.json")
            number = note.get("afterBatch")
            if isinstance(number, int):
                found.setdefault(number, f"{path}/offsets/{number}")
        return found

    def _parsed(self, number: int, path: str, text: str) -> Batch:
        lines = text.strip().splitlines()
        if len(lines) < HEAD_LINES or lines[0] != _VERSION_LINE:
            raise CheckpointError(
                f"{self.location}/{path} is not a log of offsets that this release can read. Its "
                f"first line is {lines[0][:80] if lines else ''!r}, not {_VERSION_LINE!r}."
            )
        metadata = self._json(lines[1] or "{}", path)
        planned = metadata.get("batchTimestampMs")
        return Batch(
            number=number,
            planned=from_millis(planned) if planned else None,
            offsets={
                source: line for source, line in enumerate(lines[HEAD_LINES:]) if line != _NO_OFFSET
            },
            metadata=metadata,
        )

    def completed_at(self, number: int) -> datetime | None:
        """When a micro-batch was completed. ``None`` if it was not, or if the log has lost it."""
        return self.files.modified(f"commits/{number}")

    def initial(self, source: int) -> SourceOffset | None:
        """The position at which a source began. ``None`` if it never did."""
        path = initial_path(source)
        text = self.files.read(path)
        return None if text is None else decode(text, f"{self.location}/{path}")

    def position(self, batch: Batch, source: int) -> SourceOffset:
        """The end of a micro-batch in a Kinesis source.

        Raises:
            CheckpointError: if the source has no offset, or is not a Kinesis source.
        """
        where = f"{self.location}/offsets/{batch.number}, source {source},"
        if source not in batch.offsets:
            raise CheckpointError(f"{where} has no offset")
        return decode(batch.offsets[source], where)

    def kinesis_sources(self, batch: Batch) -> list[int]:
        """The numbers of the Kinesis sources."""
        return [source for source, text in batch.offsets.items() if is_kinesis(text)]

    def source(self, batch: Batch, wanted: int | None = None) -> int:
        """The number of a Kinesis source.

        Args:
            batch: a micro-batch of the query.
            wanted: number of the source; default: the only one.

        Raises:
            CheckpointError: if there is no such source, or several and none was named.
        """
        sources = self.kinesis_sources(batch)
        if wanted is not None and wanted in sources:
            return wanted
        if wanted is None and len(sources) == 1:
            return sources[0]
        found = ", ".join(map(str, sources)) or "none"
        advice = f"there is no source {wanted}" if wanted is not None else "name one of them"
        raise CheckpointError(
            f"the checkpoint {self.location}: {advice}. Its Kinesis sources are: {found}"
        )

    def _why_missing(self, number: int) -> str:
        planned = self.planned()
        if not planned:
            return "has no micro-batch: it is not a checkpoint, or its query never ran"
        return f"has no micro-batch {number}. It has those from {planned[0]} to {planned[-1]}."

    def _json(self, text: str, path: str) -> dict[str, Any]:
        try:
            node = json.loads(text)
        except ValueError as error:
            raise CheckpointError(f"{self.location}/{path} is not JSON: {error}") from error
        return node if isinstance(node, dict) else {}


def initial_path(source: int) -> str:
    """The file with the position at which a source began."""
    return f"sources/{source}/initial-offset.json"


def _numbers(names: list[str]) -> list[int]:
    return sorted(int(name) for name in names if name.isdecimal())
