"""The progress of a micro-batch: one item of the table, which the dashboard reads.

Its keys come from ``keys.progress_keys``. Its attribute ``progress`` is the JSON text of
``Progress``, and its attribute ``expiresAt`` is one day later.
"""

from __future__ import annotations

import json
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import asdict, dataclass
from typing import Any

from log_processing.table.keys import progress_from

LIFE_SECONDS = 24 * 60 * 60
MOST_SHARDS = 200  # with names of the longest kind, an item has room for them
# After a restart on another machine, whose clock is behind, new batches come before known ones.
CLOCKS_DIFFER_MS = 60_000


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
        query: ID of the query, which stays the same as long as its checkpoint.
        batch: ID of the batch.
        records: number of Kinesis records.
        events: number of events that were stored.
        bad: number of bad events.
        errors: number of events with the level ERROR.
        seconds: events by second of arrival, service and level: ``[second, service, level, count]``
            with the second in seconds since 1970. The oldest are left out if there are more than
            500, and long names are cut.
        latency: ``None`` if the batch stored nothing.
        shards: the shards that had records in the batch, at most the 200 with the largest lag.
        shardCount: number of all shards that had records in the batch.
        latestErrors: the latest errors, newest first.
    """

    time: int
    query: str
    batch: int
    records: int
    events: int
    bad: int
    errors: int
    seconds: Sequence[tuple[int, str, str, int]]
    latency: Latency | None
    shards: Sequence[ShardLag]
    shardCount: int  # noqa: N815 names of JSON
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
        query=fields["query"],
        batch=fields["batch"],
        records=fields["records"],
        events=fields["events"],
        bad=fields["bad"],
        errors=fields["errors"],
        seconds=[(int(s), str(v), str(w), int(n)) for s, v, w, n in fields["seconds"]],
        latency=None if latency is None else Latency(**latency),
        shards=[ShardLag(**shard) for shard in fields["shards"]],
        shardCount=fields["shardCount"],
        latestErrors=[LatestError(**error) for error in fields["latestErrors"]],
    )


def batches_request(table: str, name: str, start_ms: int) -> dict[str, Any]:
    """The arguments of DynamoDB's ``Query`` for the batches of a job.

    Args:
        table: name of the table.
        name: name of the job's query.
        start_ms: least end of a batch, in milliseconds since 1970.
    """
    partition, first = progress_from(name, start_ms)
    return {
        "TableName": table,
        "KeyConditionExpression": "pk = :pk AND sk >= :first",
        "ExpressionAttributeValues": {":pk": {"S": partition}, ":first": {"S": first}},
    }


def batches_in(answer: Mapping[str, Any]) -> list[Progress]:
    """The batches in an answer of ``Query``."""
    return [from_json(item["progress"]["S"]) for item in answer["Items"]]


class KnownBatches:
    """The batches that a reader of the table has seen, each once.

    A batch that ran again may have two items, with different times. The later one counts.
    """

    def __init__(self) -> None:
        """Has no batches."""
        self._known: dict[tuple[str, int], Progress] = {}

    @property
    def in_order(self) -> list[Progress]:
        """The batches in the order of their ends."""
        return sorted(self._known.values(), key=lambda it: (it.time, it.batch))

    @property
    def read_from_ms(self) -> int:
        """The end of the first batch that the next read asks for, in milliseconds since 1970."""
        newest = max((it.time for it in self._known.values()), default=CLOCKS_DIFFER_MS)
        return newest - CLOCKS_DIFFER_MS

    def add(self, found: Iterable[Progress]) -> None:
        """Add batches, in any order."""
        for it in found:
            known = self._known.get((it.query, it.batch))
            if known is None or known.time <= it.time:
                self._known[it.query, it.batch] = it

    def forget_before(self, start_ms: int) -> None:
        """Forget the batches that ended before a time, except for the newest one."""
        newest = self.in_order[-1:]
        kept = [it for it in self._known.values() if it.time >= start_ms]
        self._known = {(it.query, it.batch): it for it in kept or newest}
