"""The checkpoint of a streaming query: what Spark planned and completed, where it continues.

``docs/reference/checkpoint-format.md`` describes the offsets, which ``spark_kinesis._offsets``
reads. Nothing here changes a checkpoint.
"""

from __future__ import annotations

import io
import json
import re
from collections.abc import Mapping
from dataclasses import dataclass, replace
from functools import cached_property
from typing import TYPE_CHECKING

from spark_kinesis._errors import CheckpointError
from spark_kinesis._offsets import SourceOffset, decode, is_kinesis, stream_name
from spark_kinesis._times import from_millis

from .files import open_files

if TYPE_CHECKING:
    from datetime import datetime

    from .files import CheckpointFiles

REWINDS = "rewinds"
LogState = tuple[tuple[int, ...], tuple[int, ...]]
"""The micro-batches that were planned, and those that were completed."""

NUMBERED, NAMED = 1, 2
"""The versions of Spark's log: sources have numbers, or names."""

_NO_OFFSET = "-"
_HEAD_LINES = 2


@dataclass(frozen=True, kw_only=True)
class Batch:
    """A micro-batch, from a file of Spark's offset log.

    Attributes:
        version: ``NUMBERED``, or ``NAMED``, which Spark 4.2 and later can write.
        metadata: Spark's own entries as JSON text, such as the watermark. May be empty.
        ends: where it ends in each source, as JSON text, by the number of the source, counted from
            0, or by its name. A name may be a number, too. ``None`` if the source has no end yet.
    """

    number: int  # its ID, from 0
    version: int
    metadata: str
    ends: Mapping[str, str | None]

    @staticmethod
    def parsed(number: int, text: str, where: str) -> Batch:
        """A micro-batch from the text of a file with this name."""
        lines = [line.rstrip("\n") for line in io.StringIO(text.rstrip(), newline=None)]
        head = re.fullmatch(r"v(\d+)", lines[0]) if lines else None
        if head is None or len(lines) < _HEAD_LINES:
            raise CheckpointError(
                f"{where} is not a log of offsets, or it is incomplete. It begins with "
                f"{text[:80]!r}."
            )
        version, (_, metadata, *ends) = int(head[1]), lines
        if version not in (NUMBERED, NAMED):
            raise CheckpointError(
                f"{where} is a log of offsets of version {version}. This release reads versions "
                f"{NUMBERED} and {NAMED}. Install a later release of spark-kinesis."
            )
        if version == NUMBERED:
            found = {str(source): end for source, end in enumerate(ends)}
        elif all(":" in line for line in ends):
            found = dict(line.split(":", 1) for line in ends)
        else:
            raise CheckpointError(f"{where} has a line without the name of a source")
        return Batch(
            number=number,
            version=version,
            metadata=metadata,
            ends={source: None if end == _NO_OFFSET else end for source, end in found.items()},
        )

    @property
    def text(self) -> str:
        """The file as Spark writes it."""
        ends = {source: end or _NO_OFFSET for source, end in self.ends.items()}
        is_named = self.version == NAMED
        lines = [f"{source}:{end}" if is_named else end for source, end in ends.items()]
        return "\n".join([f"v{self.version}", self.metadata, *lines])

    def with_end(self, source: str, end: str) -> Batch:
        """The micro-batch with another end of one source."""
        return replace(self, ends={**self.ends, source: end})

    @property
    def planned(self) -> datetime | None:
        """When Spark planned it. ``None`` if the log does not say so."""
        millis = json.loads(self.metadata or "{}").get("batchTimestampMs")
        return from_millis(millis) if millis else None

    @property
    def sources(self) -> tuple[str, ...]:
        """All sources, by number or name."""
        return tuple(self.ends)

    @property
    def offsets(self) -> dict[str, str]:
        """The end of each source that has one."""
        return {source: end for source, end in self.ends.items() if end is not None}


class Checkpoint:
    """The checkpoint of a streaming query. ``CheckpointError`` names what is missing or wrong."""

    def __init__(self, files: CheckpointFiles) -> None:
        """Read nothing yet. ``open_files`` returns the files."""
        self.files = files

    @classmethod
    def of(cls, checkpoint: Checkpoint | str) -> Checkpoint:
        """A checkpoint as it is, or the one in a folder or at a URL. Raises as ``open_files``."""
        return cls(open_files(checkpoint)) if isinstance(checkpoint, str) else checkpoint

    @property
    def location(self) -> str:
        """The folder, as the user gave it, without keys."""
        return self.files.location

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
        """A micro-batch."""
        path = f"offsets/{number}"
        text = self.files.read(path)
        if text is None:
            raise CheckpointError(f"the checkpoint {self.location} {self._why_missing(number)}")
        return Batch.parsed(number, text, f"{self.location}/{path}")

    def read_batch(self, number: int) -> Batch:
        """A micro-batch as it ended. ``spark-kinesis rewind`` may have moved its end since."""
        path = self._rewound.get(number)
        text = None if path is None else self.files.read(path)
        if path is None or text is None:
            return self.batch(number)
        return Batch.parsed(number, text, f"{self.location}/{path}")

    @cached_property
    def _rewound(self) -> dict[int, str]:
        """The files with the first ends of micro-batches whose ends were moved."""
        found: dict[int, str] = {}
        for folder in self.files.names(REWINDS):
            for name in self.files.names(f"{REWINDS}/{folder}/offsets"):
                if name.isdecimal():
                    found.setdefault(int(name), f"{REWINDS}/{folder}/offsets/{name}")
        return found

    def completed_at(self, number: int) -> datetime | None:
        """When a micro-batch was completed. ``None`` if it was not, or if the log has lost it."""
        return self.files.modified(f"commits/{number}")

    def initial(self, source: str) -> SourceOffset | None:
        """The position at which a source began. ``None`` if it never did."""
        path = initial_path(source)
        text = self.files.read(path)
        return None if text is None else decode(text, f"{self.location}/{path}")

    def starts(self) -> dict[str, SourceOffset]:
        """Where each Kinesis source began, by its number or name. Without any micro-batch, too."""
        names = self.files.names("sources")
        found = {it: offset for it in names if (offset := self.initial(it)) is not None}
        if not found:
            raise CheckpointError(
                f"the checkpoint {self.location} has no position: it is not a checkpoint, or its "
                "query never ran"
            )
        return found

    def start(self, wanted: str | None = None) -> tuple[str, SourceOffset]:
        """A Kinesis source, and where it began."""
        found = self.starts()
        source = self._chosen(list(found), wanted)
        return source, found[source]

    def position(self, batch: Batch, source: str) -> SourceOffset:
        """The end of a micro-batch in a Kinesis source."""
        where = f"{self.location}/offsets/{batch.number}, source {source},"
        if source not in batch.offsets:
            raise CheckpointError(f"{where} has no offset")
        return decode(batch.offsets[source], where)

    def kinesis_sources(self, batch: Batch) -> list[str]:
        """The Kinesis sources, by number or name."""
        return [source for source, text in batch.offsets.items() if is_kinesis(text)]

    def source(self, batch: Batch, wanted: str | None = None) -> str:
        """A Kinesis source of a micro-batch."""
        return self._chosen(self.kinesis_sources(batch), wanted)

    def _chosen(self, sources: list[str], wanted: str | None) -> str:
        found = [it for it in sources if wanted in (None, it)]
        if len(found) == 1:
            return found[0]
        advice = "name one of them" if wanted is None else f"there is no source {wanted}"
        raise CheckpointError(
            f"the checkpoint {self.location}: {advice}. Its Kinesis sources are: "
            f"{', '.join(sources) or 'none'}"
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
    """Where a source continues: after the newest completed micro-batch, or else where it began."""
    planned, completed = checkpoint.state()
    if not planned:
        return checkpoint.start(wanted)[1]
    source = checkpoint.source(checkpoint.batch(planned[-1]), wanted)
    if completed:
        batch = checkpoint.batch(completed[-1])
        if source in batch.offsets:
            return checkpoint.position(batch, source)
    return checkpoint.start(source)[1]


def next_positions(checkpoint: Checkpoint) -> dict[str, SourceOffset]:
    """Where each Kinesis source continues, by its number or name."""
    planned = checkpoint.planned()
    if not planned:
        return checkpoint.starts()
    sources = checkpoint.kinesis_sources(checkpoint.batch(planned[-1]))
    return {it: next_position(checkpoint, it) for it in sources}


def chosen_streams(offset: SourceOffset, stream: str | None) -> list[str]:
    """The ARNs of the streams that a command is for, in order."""
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
