"""A task of Spark with services in memory."""

from __future__ import annotations

import json
import random
import threading
from dataclasses import replace
from typing import TYPE_CHECKING, Any

import made
import pyarrow as pa
import pytest

from log_processing import partition
from log_processing.delivery.clock import Clock
from log_processing.delivery.in_flight import InFlight
from log_processing.events.event import KinesisRecord
from log_processing.settings import Settings
from log_processing.summary import Summary, from_json

if TYPE_CHECKING:
    from test_table import Table

SETTINGS = Settings(
    table="logs",
    streams="logs",
    bus="alerts",
    checkpoint="c",
    bad_events="b",
    write_timeout=3600,
)


def arrow(records: list[KinesisRecord], size: int = 3) -> list[pa.RecordBatch]:
    """Records as Spark hands them to a task, some at a time."""
    names = list(KinesisRecord.__dataclass_fields__)
    columns = [[getattr(record, name) for record in records] for name in names]
    kinds = [pa.string(), pa.string(), pa.string(), pa.int64(), pa.int64(), pa.binary()]
    arrays = [pa.array(column, kind) for column, kind in zip(columns, kinds)]
    whole = pa.RecordBatch.from_arrays(arrays, names)
    return [whole.slice(first, size) for first in range(0, len(records), size)]


class Services:
    """A table and a bus, in place of boto3's clients and of the clock."""

    def __init__(self, patch: pytest.MonkeyPatch, table: Table, bus: Any) -> None:
        """Replace the clients and the clock."""
        self.table, self.bus = table, bus
        self._lock = threading.Lock()
        patch.setattr(partition, "client", self.client)
        patch.setattr("log_processing.partition.time.time", lambda: made.NOW_S)

    def client(self, service: str, *_: object) -> Any:
        """In place of ``clients.client``."""
        return self if service == "dynamodb" else self.bus

    def batch_write_item(self, **request: Any) -> Any:
        """One request at a time: the table is not made for threads."""
        with self._lock:
            return self.table.batch_write_item(**request)


def run(
    records: list[KinesisRecord],
    table: Table,
    bus: Any,
    in_flight: int,
) -> tuple[Services, Summary, list[dict[str, Any]]]:
    """Run a task. Returns its services, its summary and its rows of bad events."""
    with pytest.MonkeyPatch.context() as patch:
        services = Services(patch, table, bus)
        clock = Clock(lambda: 0.0, lambda _: None, random.random)
        real = InFlight.__init__

        def without_waiting(self: InFlight[Any], limit: int) -> None:
            real(self, limit)
            self.clock = clock

        patch.setattr(InFlight, "__init__", without_waiting)
        settings = replace(SETTINGS, requests_in_flight=in_flight)
        given_batches = iter(arrow(records))
        rows = [
            row
            for batch in partition.process_partition(settings, given_batches)
            for row in batch.to_pylist()
        ]
    return services, from_json(rows[-1]["summary"]), rows[:-1]


def event(**changes: Any) -> bytes:
    """The data of an error that arrives now, with changes."""
    fields = {"timestamp": made.NOW_MS, "level": "ERROR", "service": "a", "message": "m"}
    return json.dumps({**fields, **changes}).encode()
