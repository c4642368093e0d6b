"""What a task does with its records, with services that refuse and fail."""

from __future__ import annotations

import json
import random
import threading
from dataclasses import replace
from typing import Any

import made
import pyarrow as pa
import pytest
from hypothesis import given
from hypothesis import strategies as st
from test_alerts import Bus
from test_table import PASSING, Table, refusal

from log_processing import partition
from log_processing.delivery.in_flight import InFlight
from log_processing.delivery.retry import NotDeliveredError, Times
from log_processing.events import reasons
from log_processing.events.event import BadEvent, KinesisRecord, LogEvent
from log_processing.events.lifetime import why_not_stored
from log_processing.events.parsing import parse
from log_processing.settings import Settings
from log_processing.summary import Summary, from_json
from log_processing.table.items import MAX_ITEM_BYTES, event_item

SETTINGS = Settings(
    table="logs",
    streams="logs",
    bus="alerts",
    checkpoint="c",
    bad_events="b",
    write_timeout=3600,
)
DAY_MS = 86_400_000


def settings_with(in_flight: int) -> Settings:
    return replace(SETTINGS, requests_in_flight=in_flight)


def arrow(records: list[KinesisRecord], size: int = 3) -> list[pa.RecordBatch]:
    names = list(KinesisRecord.__dataclass_fields__)
    columns = [[getattr(record, name) for record in records] for name in names]
    kinds = [pa.string(), pa.string(), pa.string(), pa.int64(), pa.int64(), pa.binary()]
    arrays = [pa.array(column, kind) for column, kind in zip(columns, kinds)]
    whole = pa.RecordBatch.from_arrays(arrays, names)
    return [whole.slice(first, size) for first in range(0, len(records), size)]


class Services:
    """A table and a bus, in place of boto3's clients and of the clock."""

    def __init__(self, patch: pytest.MonkeyPatch, tables: list[Any], buses: list[Any]) -> None:
        self.table, self.bus = Table(tables), Bus(buses)
        self._lock = threading.Lock()
        patch.setattr(partition, "client", self.client)
        patch.setattr("log_processing.partition.time.time", lambda: made.NOW_S)

    def client(self, service: str, *_: object) -> Any:
        return self if service == "dynamodb" else self.bus

    def batch_write_item(self, **request: Any) -> Any:
        with self._lock:
            return self.table.batch_write_item(**request)


def run(
    records: list[KinesisRecord],
    tables: list[Any],
    buses: list[Any],
    in_flight: int,
) -> tuple[Services, Summary, list[dict[str, Any]]]:
    with pytest.MonkeyPatch.context() as patch:
        services = Services(patch, tables, buses)
        times = Times(lambda: 0.0, lambda _: None, random.Random(1).random)
        real = InFlight.__init__

        def without_waiting(self: InFlight[Any], limit: int) -> None:
            real(self, limit)
            self.times = times

        patch.setattr(InFlight, "__init__", without_waiting)
        given_batches = iter(arrow(records))
        rows = [
            row
            for batch in partition.process_partition(settings_with(in_flight), given_batches)
            for row in batch.to_pylist()
        ]
    return services, from_json(rows[-1]["summary"]), rows[:-1]


@given(
    st.lists(made.data, max_size=40),
    st.lists(st.integers(0, 25) | st.sampled_from(PASSING), max_size=8),
    st.lists(st.sets(st.integers(0, 9)) | st.sampled_from(PASSING), max_size=8),
    st.integers(1, 4),
)
def test_each_event_is_stored_or_kept(
    contents: list[bytes], tables: list[Any], buses: list[Any], in_flight: int
) -> None:
    records = [made.record(content, number) for number, content in enumerate(contents)]
    parsed = [one for record in records for one in parse(record)]
    good = [one for one in parsed if isinstance(one, LogEvent)]
    stored = [one for one in good if why_not_stored(one, 30, made.NOW_S) is None]
    services, summary, bad = run(records, list(tables), list(buses), in_flight)

    assert set(services.table.stored) == {event_item(one, 30).key for one in stored}
    assert len(bad) == len(parsed) - len(stored)
    errors = [one for one in stored if one.is_error]
    assert len(services.bus.published) == len(errors)
    assert (summary.records, summary.events, summary.bad) == (
        len(records),
        len(stored),
        len(bad),
    )
    assert (summary.errors, summary.published) == (len(errors), len(errors))
    assert sum(summary.latency.values()) == sum(summary.seconds.values()) == len(stored)


def event(**changes: Any) -> bytes:
    fields = {"timestamp": made.NOW_MS, "level": "ERROR", "service": "a", "message": "m"}
    return json.dumps({**fields, **changes}).encode()


@pytest.mark.parametrize(
    ("data", "reason"),
    [
        (event(message="a" * MAX_ITEM_BYTES), reasons.TOO_LARGE),
        (event(timestamp=made.NOW_MS - 30 * DAY_MS), reasons.EXPIRED),
        (event(timestamp=made.NOW_MS + DAY_MS + 1), reasons.FROM_THE_FUTURE),
        (event(timestamp=None), reasons.UNDATED),
        (event(service=None), reasons.UNPARSABLE),
    ],
)
def test_a_bad_event_is_kept_with_its_reason_and_its_place(data: bytes, reason: str) -> None:
    good = [made.record(event(), number) for number in range(5)]
    services, summary, rows = run([*good, made.record(data, 7)], [], [], 2)
    (row,) = rows
    assert (row["reason"], row["data"], row["sequenceNumber"]) == (reason, data, str(10**20 + 7))
    assert (row["stream"], row["shardId"], row["event"]) == ("logs", "shardId-000000000000", 0)
    assert (row["arrivalMs"], row["subSequenceNumber"]) == (made.NOW_MS, 0)
    assert len(services.table.stored) == len(services.bus.published) == summary.events == 5


@pytest.mark.parametrize("age", [30 * DAY_MS - 1000, -DAY_MS])
def test_an_event_within_the_limits_of_its_age_is_stored(age: int) -> None:
    services, _, bad = run([made.record(event(timestamp=made.NOW_MS - age))], [], [], 2)
    assert (len(services.table.stored), bad) == (1, [])


def test_many_bad_events_are_returned_before_the_end() -> None:
    records = [made.record(b"bad", number) for number in range(2500)]
    with pytest.MonkeyPatch.context() as patch:
        Services(patch, [], [])
        sizes = [
            batch.num_rows for batch in partition.process_partition(SETTINGS, iter(arrow(records)))
        ]
    assert sizes == [1000, 1000, 500, 1]


def test_records_twice_in_a_partition_are_stored_once() -> None:
    services, summary, _ = run([made.record(event(), 1)] * 3, [], [], 2)
    assert len(services.table.stored) == summary.events == 1


@pytest.mark.parametrize(
    ("tables", "buses", "named"),
    [
        ([refusal("AccessDeniedException")], [], "table 'logs'"),
        ([], [refusal("AccessDeniedException")], "bus 'alerts'"),
    ],
)
def test_the_task_fails_if_the_table_or_the_bus_refuses(
    tables: list[Any], buses: list[Any], named: str
) -> None:
    records = [made.record(event(), number) for number in range(100)]
    with pytest.raises(NotDeliveredError, match=named):
        run(records, tables, buses, 2)


def test_an_alert_is_published_after_its_event_is_stored() -> None:
    with pytest.MonkeyPatch.context() as patch:
        services = Services(patch, [refusal("AccessDeniedException")], [])
        batches = iter(arrow([made.record(event())]))
        with pytest.raises(NotDeliveredError):
            list(partition.process_partition(SETTINGS, batches))
    assert services.bus.sizes == []


def test_bad_events_compare_by_value() -> None:
    (one,), (other,) = parse(made.record(b"x")), parse(made.record(b"x"))
    assert isinstance(one, BadEvent)
    assert one == other
