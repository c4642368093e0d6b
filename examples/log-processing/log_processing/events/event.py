"""Log events, and events that cannot be stored."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import Any

ERROR = "error"


@dataclass(frozen=True)
class KinesisRecord:
    """A record of a stream, with what identifies it.

    Attributes:
        stream: name of the stream.
        shard_id: ID of the shard.
        sequence_number: sequence number of the Kinesis record.
        sub_sequence_number: position in an aggregated record, otherwise 0.
        arrival_ms: time of arrival at Kinesis, in milliseconds since 1970.
        data: payload.
    """

    stream: str
    shard_id: str
    sequence_number: str
    sub_sequence_number: int
    arrival_ms: int
    data: bytes


@dataclass(frozen=True)
class KinesisIdentity:
    """The place of an event in Kinesis. No two events have the same.

    Attributes:
        event: index of the event in its record. All events of the record count, also bad ones.
    """

    stream: str
    shard_id: str
    sequence_number: str
    sub_sequence_number: int
    event: int
    arrival_ms: int


@dataclass(frozen=True)
class LogEvent:
    """A log event that can be stored.

    Attributes:
        time_us: time of the event, in microseconds since 1970, UTC.
        level: level as the service sent it.
        context: values as text.
        source: what it was parsed from; see ``parsing.source_bytes``.
    """

    time_us: int
    level: str
    service: str
    message: str
    context: Mapping[str, str]
    identity: KinesisIdentity
    source: Any = field(default=b"", repr=False, compare=False)

    @property
    def is_error(self) -> bool:
        """Whether the level is ERROR, in upper or lower case."""
        return self.level.casefold() == ERROR


@dataclass(frozen=True)
class BadEvent:
    """An event that is kept apart.

    Attributes:
        reason: one of the constants of ``reasons``.
        detail: what is wrong with it, for people.
        data: the event as it was received.
    """

    reason: str
    detail: str
    data: bytes
    identity: KinesisIdentity
