"""What the job should have done with each record, by the tables in the README, and what it did.

This module imports nothing from ``log_processing``, so that a mistake of the job cannot be here,
too. It knows the events that the trial writes, and not every form of time or level.
"""

from __future__ import annotations

import gzip
import json
from binascii import crc32
from collections import Counter
from dataclasses import dataclass, field
from datetime import datetime, timedelta, timezone
from typing import TYPE_CHECKING, Any

import pyarrow.dataset as parquet

if TYPE_CHECKING:
    from collections.abc import Iterable
    from pathlib import Path

    from spark_kinesis.local import Record

Key = tuple[str, str]  # partition key and sort key
Place = tuple[str, str, int]  # shard, sequence number, number of the event in the record
Facts = tuple[datetime, str, str]  # time, level, service
ALERTING = ("ERROR", "FATAL", "CRITICAL")


@dataclass
class Expected:
    """What should be in the table, at the rule's target, and in the folder of bad events."""

    items: set[Key] = field(default_factory=set)
    alerts: set[Place] = field(default_factory=set)
    bad: set[Place] = field(default_factory=set)


def expected(records: Iterable[Record], stream: str) -> Expected:
    """What the job should do with the records of a stream."""
    result = Expected()
    for record in records:
        for index, facts in enumerate(facts_of(record.data)):
            place = (record.shard_id, record.sequence_number, index)
            if facts is None:
                result.bad.add(place)
                continue
            result.items.add(key(facts, f"{stream}#{place[0]}#{place[1]}#0#{index}"))
            if facts[1].upper() in ALERTING:
                result.alerts.add(place)
    return result


def key(facts: Facts, place: str) -> Key:
    """The keys of an event."""
    at, _, service = facts
    name = "".join({"%": "%25", "#": "%23"}.get(letter, letter) for letter in service)
    sort = f"{at.year:04}-{at:%m-%dT%H:%M:%S.%f}Z#{place}"
    return f"{name}#{sort[:13]}#b{crc32(sort.encode()) & 15}", sort


def facts_of(data: bytes) -> list[Facts | None]:
    """The facts of each event in the data of a record; ``None`` for a bad event."""
    try:
        if data[:2] == b"\x1f\x8b":
            payload = json.loads(gzip.decompress(data))
            return [_of_log_event(payload["logGroup"], entry) for entry in payload["logEvents"]]
        event = json.loads(data)
    except (ValueError, OSError, EOFError):
        return [None]
    return [_of_json(event) if isinstance(event, dict) else None]


def _of_json(event: dict[str, Any]) -> Facts | None:
    level, service, message = (event.get(name) for name in ("level", "service", "message"))
    at = instant(event.get("timestamp"))
    texts = all(isinstance(text, str) for text in (level, service, message))
    is_map = event.get("context") is None or isinstance(event["context"], dict)
    if not (texts and level and service and at and is_map):
        return None
    return at, str(level), str(service)


def _of_log_event(group: str, entry: dict[str, Any]) -> Facts | None:
    message = entry["message"]
    if message.startswith("{"):
        event = json.loads(message)
        return _of_json({"service": group, "timestamp": entry.get("timestamp"), **event})
    at = instant(entry.get("timestamp"))
    return (at, message.split(" ")[0], group) if at else None


def instant(value: Any) -> datetime | None:
    """The time of a text, or of milliseconds since 1970; ``None`` for anything else."""
    if type(value) is int:
        return datetime(1970, 1, 1, tzinfo=timezone.utc) + timedelta(milliseconds=value)
    try:
        at = datetime.fromisoformat(value.replace("Z", "+00:00"))
    except (AttributeError, ValueError):
        return None
    return at.astimezone(timezone.utc) if at.tzinfo else at.replace(tzinfo=timezone.utc)


@dataclass(frozen=True)
class Balance:
    """What should be there, compared with what is there.

    Attributes:
        put: good events in the stream.
        stored: items in the table.
        missing: events without their item.
        twice: items without an event, such as a second item of an event under another key.
        errors: events in the stream that should raise an alert.
        published: of these, those whose alert arrived.
        bad: bad events in the stream.
        kept: of these, those that are in the folder once.
        strange: alerts for other events, and bad events that are there twice or are not bad.
    """

    put: int
    stored: int
    missing: int
    twice: int
    errors: int
    published: int
    bad: int
    kept: int
    strange: int

    @property
    def is_even(self) -> bool:
        """Whether there were events, and each was stored, published or kept as it should be."""
        wrong = self.missing + self.twice + self.strange
        return 0 < self.put == self.stored and (self.errors, self.bad, wrong) == (
            *(self.published, self.kept),
            0,
        )

    def __str__(self) -> str:
        return (
            f"demo-logs: put={self.put} stored={self.stored} missing={self.missing} "
            f"twice={self.twice} errors={self.errors} published>={self.published} "
            f"bad={self.bad} kept={self.kept}"
        )


def compare(
    should: Expected, items: Iterable[Key], alerts: Iterable[Place], kept: Iterable[Place]
) -> Balance:
    """Compare what should be there with the keys of the table and with two lists of places."""
    stored, published, counted = set(items), set(alerts), Counter(kept)
    once = {place for place, count in counted.items() if count == 1}
    strange = len(published - should.alerts) + len(set(counted) - (should.bad & once))
    return Balance(
        put=len(should.items),
        stored=len(stored),
        missing=len(should.items - stored),
        twice=len(stored - should.items),
        errors=len(should.alerts),
        published=len(should.alerts & published),
        bad=len(should.bad),
        kept=len(should.bad & once),
        strange=strange,
    )


def place_of(detail: dict[str, Any]) -> Place:
    """The place of the event of an alert."""
    place = detail["kinesis"]
    return place["shardId"], place["sequenceNumber"], place["event"]


def kept_in(folder: Path) -> list[Place]:
    """The places of the bad events in a folder."""
    if not folder.exists():
        return []
    columns = ["shardId", "sequenceNumber", "event"]
    # The folders `run=...` and `batch=...` are no columns: a run may look like a number.
    table = parquet.dataset(folder, format="parquet").to_table(columns=columns)
    return list(zip(*(table.column(name).to_pylist() for name in columns), strict=True))
