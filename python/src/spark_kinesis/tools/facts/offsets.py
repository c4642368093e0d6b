"""The files of Spark's log, without their I/O.

``spark_kinesis._offsets`` has the positions of the Kinesis source, which the API reads, too.
"""

from __future__ import annotations

import io
import re
from dataclasses import dataclass, replace
from typing import TYPE_CHECKING

from spark_kinesis._errors import CheckpointError

if TYPE_CHECKING:
    from collections.abc import Mapping

NUMBERED, NAMED = 1, 2
"""The versions of Spark's log: sources have numbers, or names."""

_NO_OFFSET = "-"
_HEAD_LINES = 2


@dataclass(frozen=True, kw_only=True)
class LoggedOffsets:
    """Where a micro-batch ends in each source of a query, from a file of Spark's log.

    Attributes:
        offsets: the end of each source as JSON text, by the number of the source, counted from 0,
            or by its name. A name may be a number, too. ``None`` if the source has no end yet.
    """

    version: int  # ``NUMBERED``, or ``NAMED``, which Spark 4.2 and later can write
    metadata: str  # Spark's own entries as JSON text, such as the watermark. May be empty.
    offsets: Mapping[str, str | None]

    @property
    def text(self) -> str:
        """The file as Spark writes it."""
        ends = {source: end or _NO_OFFSET for source, end in self.offsets.items()}
        if self.version == NAMED:
            lines = [f"{source}:{end}" for source, end in ends.items()]
        else:
            lines = list(ends.values())
        return "\n".join([f"v{self.version}", self.metadata, *lines])

    def with_offset(self, source: str, offset: str) -> LoggedOffsets:
        """The logged offsets with another end of one source."""
        return replace(self, offsets={**self.offsets, source: offset})


def parse_log(text: str, where: str) -> LoggedOffsets:
    """The offsets from the text of a file with this name.

    Raises:
        CheckpointError: if the file is incomplete, is no offset log, or has a later version.
    """
    lines = [line.rstrip("\n") for line in io.StringIO(text.rstrip(), newline=None)]
    version = re.fullmatch(r"v(\d+)", lines[0]) if lines else None
    if version is None or len(lines) < _HEAD_LINES:
        found = f"Its first line is {lines[0][:80]!r}." if lines else "It is empty."
        raise CheckpointError(f"{where} is not a log of offsets, or it is incomplete. {found}")
    number, (_, metadata, *ends) = int(version[1]), lines
    if number not in (NUMBERED, NAMED):
        raise CheckpointError(
            f"{where} is a log of offsets of version {number}. This release reads versions "
            f"{NUMBERED} and {NAMED}. Install a later release of spark-kinesis."
        )
    numbered = ((str(source), end) for source, end in enumerate(ends))
    pairs = numbered if number == NUMBERED else (_named(line, where) for line in ends)
    offsets = {source: None if end == _NO_OFFSET else end for source, end in pairs}
    return LoggedOffsets(version=number, metadata=metadata, offsets=offsets)


def _named(line: str, where: str) -> tuple[str, str]:
    source, colon, end = line.partition(":")
    if not colon:
        raise CheckpointError(f"{where} has a line without the name of a source: {line[:80]!r}")
    return source, end
