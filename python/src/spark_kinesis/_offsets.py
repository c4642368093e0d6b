"""The position of the Kinesis source, as checkpoints and Spark's progress contain it. No I/O.

The connector's ``OffsetCodec`` writes it. ``docs/reference/checkpoint-format.md`` describes it.
"""

from __future__ import annotations

import json
from collections import Counter
from dataclasses import dataclass, field, replace
from datetime import datetime
from enum import Enum
from typing import TYPE_CHECKING, Any

from ._errors import CheckpointError
from ._times import from_millis, parsed, to_millis

if TYPE_CHECKING:
    from collections.abc import Collection, Mapping

VERSION = 1
_ID_LENGTH = 20


class Progress(Enum):
    """How far a shard was read."""

    TRIM_HORIZON = "trim_horizon"
    AT = "at"
    FROM = "from"
    AFTER = "after"
    FINISHED = "finished"


@dataclass(frozen=True, kw_only=True)
class ShardOffset:
    """The progress of one shard.

    Attributes:
        sequence_number: with ``FROM`` the first record that is not read, with ``AFTER`` the last
            one that is. Otherwise ``None``.
        time: with ``AT`` the time of arrival from which records are read, as in the checkpoint.
        complete_as_of: all records that arrived before this time are read. ``None`` if unknown.
        first: sequence number of the first record of the micro-batch, if this is its first one.
    """

    progress: Progress  # how far the shard was read
    sequence_number: int | None = None
    time: str | None = None
    complete_as_of: datetime | None = None
    waits_for: tuple[str, ...] = ()  # parents that were not finished
    first: int | None = None

    @property
    def place(self) -> str:
        """The progress as the checkpoint contains it, without the time after ``@``."""
        return {
            Progress.AT: f"at:{self.time}",
            Progress.FROM: f"from:{self.sequence_number}",
            Progress.AFTER: str(self.sequence_number),
        }.get(self.progress, self.progress.value)

    @property
    def text(self) -> str:
        """The progress as the checkpoint contains it."""
        if self.complete_as_of is None:
            return self.place
        return f"{self.place}@{to_millis(self.complete_as_of)}"

    @property
    def complete_until(self) -> datetime | None:
        """``complete_as_of``, or else the time of ``AT``: no record before it is to be read.

        ``None`` if both are unknown.
        """
        return self.complete_as_of or parsed(self.time)


@dataclass(frozen=True, kw_only=True)
class StreamOffset:
    """The progress in one stream."""

    created: str  # creation time of the stream, as in the checkpoint
    shards: Mapping[str, ShardOffset]  # by ID, those that the query still needs


@dataclass(frozen=True, kw_only=True)
class SourceOffset:
    """The progress of a source, by the ARN of the stream."""

    streams: Mapping[str, StreamOffset] = field(default_factory=dict)


def encode(offset: SourceOffset) -> str:
    """The JSON text of an offset, the same as the connector writes."""
    streams = {arn: _stream_json(offset.streams[arn]) for arn in sorted(offset.streams)}
    return json.dumps({"version": VERSION, "streams": streams}, separators=(",", ":"))


def _stream_json(stream: StreamOffset) -> dict[str, Any]:
    shards = sorted(stream.shards.items())
    others = {
        "waitsFor": {name: sorted(shard.waits_for) for name, shard in shards if shard.waits_for},
        "first": {name: str(shard.first) for name, shard in shards if shard.first is not None},
    }
    return {
        "created": stream.created,
        "shards": {name: shard.text for name, shard in shards},
        **{name: it for name, it in others.items() if it},
    }


def decode(text: str, where: str) -> SourceOffset:
    """The offset from its JSON text, which is in a file with this name.

    Raises:
        CheckpointError: if the text is not an offset of the Kinesis source, or a newer one.
    """
    try:
        node = json.loads(text)
        _check_version(node["version"], where)
        return SourceOffset(streams={arn: _stream(it) for arn, it in node["streams"].items()})
    except (ValueError, KeyError, TypeError, AttributeError) as error:
        raise CheckpointError(
            f"{where} has no offset of the Kinesis source: {error}. It begins with: {text[:200]}"
        ) from error


def _check_version(version: Any, where: str) -> None:
    if type(version) is not int or version < 1:
        raise ValueError(f"its version is {version!r}")
    if version > VERSION:
        raise CheckpointError(
            f"{where} has a Kinesis offset of version {version}. This release reads version "
            f"{VERSION}. Install the release of spark-kinesis that wrote it."
        )


def is_kinesis(text: str) -> bool:
    """Whether the JSON text of an offset is one of the Kinesis source."""
    try:
        node = json.loads(text)
    except ValueError:
        return False
    return isinstance(node, dict) and "version" in node and "streams" in node


def _stream(node: Mapping[str, Any]) -> StreamOffset:
    waits_for, first = node.get("waitsFor", {}), node.get("first", {})
    shards = {
        name: _shard(text, tuple(waits_for.get(name, ())), first.get(name))
        for name, text in node["shards"].items()
    }
    return StreamOffset(created=str(node["created"]), shards=shards)


def _shard(text: str, waits_for: tuple[str, ...], first: str | None) -> ShardOffset:
    progress, _, millis = text.partition("@")
    kind, _, value = progress.partition(":")
    read = ShardOffset(
        progress=Progress.AFTER,
        complete_as_of=from_millis(int(millis)) if millis else None,
        waits_for=waits_for,
        first=None if first is None else int(first),
    )
    if kind == Progress.AT.value:
        return replace(read, progress=Progress.AT, time=value)
    if kind == Progress.FROM.value:
        return replace(read, progress=Progress.FROM, sequence_number=int(value))
    if progress in (Progress.TRIM_HORIZON.value, Progress.FINISHED.value):
        return replace(read, progress=Progress(progress))
    return replace(read, sequence_number=int(progress))


def short_id(shard: str) -> str:
    """A shard ID without its zeros: ``shardId-000000000003`` is ``3``."""
    number = shard.removeprefix("shardId-")
    return str(int(number)) if number.isdecimal() and len(shard) == _ID_LENGTH else shard


def stream_name(arn: str) -> str:
    """The name of the stream from its ARN."""
    return arn.rpartition("/")[2]


def stream_names(arns: Collection[str]) -> dict[str, str]:
    """The names of streams by ARN. The name is the ARN if several accounts or regions have it."""
    count = Counter(map(stream_name, arns))
    return {it: name if count[name := stream_name(it)] == 1 else it for it in arns}
