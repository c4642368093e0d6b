"""The events of the stream, and what the application did with each."""

from __future__ import annotations

import gzip
import json
from collections import Counter
from collections.abc import Iterable, Mapping
from dataclasses import dataclass, field
from pathlib import Path
from typing import TYPE_CHECKING, Any

import pyarrow.dataset as files

if TYPE_CHECKING:
    from spark_kinesis.local import Record

BadKey = tuple[str, str, int]  # shard, sequence number, index within the record
_GZIP = b"\x1f\x8b"


def event_id(context: Mapping[str, str]) -> str:
    """The ID of an event: that of its request, or that of CloudWatch Logs."""
    return context.get("request") or context["id"]


@dataclass
class Put:
    """The events of a stream.

    Attributes:
        events: how often each ID was written. A generator may write an event again if it gets no
            answer.
        errors: the IDs of errors.
        bad: the places of bad events.
    """

    events: Counter[str] = field(default_factory=Counter)
    errors: set[str] = field(default_factory=set)
    bad: set[BadKey] = field(default_factory=set)

    def add(self, record: Record) -> None:
        """Note the events of a record, as this trial writes them."""
        for index, event in enumerate(_events(record.data)):
            if event is None:
                self.bad.add((record.shard_id, record.sequence_number, index))
                continue
            number, is_error = event
            self.events[number] += 1
            if is_error:
                self.errors.add(number)


def put(records: Iterable[Record]) -> Put:
    """The events of the records of a stream."""
    ledger = Put()
    for record in records:
        ledger.add(record)
    return ledger


@dataclass(frozen=True)
class StoredItem:
    """An item of the table.

    Attributes:
        id: ID of its event.
        arrival: time of arrival at Kinesis, in milliseconds.
        millis: time from arrival until it was stored.
    """

    id: str
    arrival: int
    millis: int
    timestamp: str
    service: str
    message: str
    is_error: bool


def stored_item(item: Mapping[str, Any]) -> StoredItem:
    """An item as a scan returns it."""
    arrival = int(item["arrival"]["N"])
    return StoredItem(
        id=event_id({name: text["S"] for name, text in item["context"]["M"].items()}),
        arrival=arrival,
        millis=int(item["storedAt"]["N"]) - arrival,
        timestamp=item["timestamp"]["S"],
        service=item["service"]["S"],
        message=item["message"]["S"],
        is_error=item["level"]["S"].upper() == "ERROR",
    )


def kept(folder: Path) -> Counter[BadKey]:
    """The places of the bad events that were kept."""
    if not folder.exists():
        return Counter()
    columns = ["shardId", "sequenceNumber", "event"]
    # The folders `run=...` and `batch=...` are no columns: a run may look like a number.
    table = files.dataset(folder, format="parquet").to_table(columns=columns)
    return Counter(zip(*(table.column(name).to_pylist() for name in columns)))


def _events(data: bytes) -> list[tuple[str, bool] | None]:
    """For each event of a record its ID and whether it is an error; ``None`` for a bad event."""
    if data.startswith(_GZIP):
        return [_log_event(event) for event in json.loads(gzip.decompress(data))["logEvents"]]
    try:
        event = json.loads(data)
    except ValueError:
        return [None]
    return [_json_event(event)]


def _json_event(event: Mapping[str, Any]) -> tuple[str, bool] | None:
    if "context" not in event:
        return None  # an undated event of the trial
    return event_id(event["context"]), event["level"].upper() == "ERROR"


def _log_event(event: Mapping[str, Any]) -> tuple[str, bool] | None:
    if "timestamp" not in event:
        return None
    if event["message"].startswith("{"):
        return _json_event(json.loads(event["message"]))
    return event["id"], event["message"].startswith("ERROR")
