"""The progress of a micro-batch: one item of the table, which the dashboard reads.

Its keys come from ``keys.progress_keys``. Its attribute ``progress`` is the JSON text of
``Progress``, and its attribute ``expiresAt`` is one day later.
"""

from __future__ import annotations

import json
from collections.abc import Mapping, Sequence
from dataclasses import asdict, dataclass
from typing import Any

LIFE_SECONDS = 24 * 60 * 60


@dataclass(frozen=True)
class Latency:
    """Milliseconds from the arrival of an event at Kinesis until DynamoDB had stored it."""

    p50: int
    p99: int
    max: int


@dataclass(frozen=True)
class ShardLag:
    """A shard with records in the batch.

    Attributes:
        behindMs: milliseconds from the arrival of its newest record until the end of the batch.
    """

    stream: str
    shard: str
    behindMs: int  # noqa: N815 names of JSON


@dataclass(frozen=True)
class LatestError:
    """An event with the level ERROR."""

    timestamp: str
    service: str
    message: str


@dataclass(frozen=True)
class Progress:
    """What a micro-batch did.

    Attributes:
        time: end of the batch, in milliseconds since 1970.
        batch: ID of the batch.
        records: number of Kinesis records.
        events: number of events that were stored.
        bad: number of bad events.
        errors: number of events with the level ERROR.
        seconds: events by second of arrival, service and level: ``[second, service, level, count]``
            with the second in seconds since 1970. The oldest are left out if there are more than
            500, and long names are cut.
        latency: ``None`` if the batch stored nothing.
        shards: one per shard that had records in the batch.
        latestErrors: the latest errors, newest first.
    """

    time: int
    batch: int
    records: int
    events: int
    bad: int
    errors: int
    seconds: Sequence[tuple[int, str, str, int]]
    latency: Latency | None
    shards: Sequence[ShardLag]
    latestErrors: Sequence[LatestError]  # noqa: N815 names of JSON

    def to_json(self) -> str:
        """The text of the attribute ``progress``."""
        return json.dumps(asdict(self), separators=(",", ":"), ensure_ascii=False)


def from_json(text: str) -> Progress:
    """The progress from the text of the attribute ``progress``."""
    fields: Mapping[str, Any] = json.loads(text)
    latency = fields["latency"]
    return Progress(
        time=fields["time"],
        batch=fields["batch"],
        records=fields["records"],
        events=fields["events"],
        bad=fields["bad"],
        errors=fields["errors"],
        seconds=[(int(s), str(v), str(w), int(n)) for s, v, w, n in fields["seconds"]],
        latency=None if latency is None else Latency(**latency),
        shards=[ShardLag(**shard) for shard in fields["shards"]],
        latestErrors=[LatestError(**error) for error in fields["latestErrors"]],
    )
