"""What a task does with its records, with services that refuse and fail."""

from __future__ import annotations

import json
from typing import Any

import made
import pytest
from hypothesis import given
from hypothesis import strategies as st
from task import SETTINGS, Services, arrow, event, run
from test_alerts import Bus
from test_table import PASSING, Table, refusal

from log_processing import partition
from log_processing.delivery.retry import NotDeliveredError
from log_processing.events import reasons
from log_processing.events.event import BadEvent, LogEvent
from log_processing.events.lifetime import why_not_stored
from log_processing.events.parsing import parse
from log_processing.table.items import MAX_ITEM_BYTES, event_item

DAY_MS = 86_400_000


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
    services, summary, bad = run(records, Table(list(tables)), Bus(list(buses)), in_flight)

    assert set(services.table.stored) == {event_item(one, 30).key for one in stored}
    assert len(bad) == len(parsed) - len(stored)
    errors = [one for one in stored if one.is_error]
    alerts = [one for one in good if one.is_error]
    assert len(services.bus.published) == len(alerts)
    assert (summary.records, summary.events, summary.bad) == (
        len(records),
        len(stored),
        len(bad),
    )
    assert summary.errors == len(errors)
    assert sum(summary.latency.values()) == sum(summary.seconds.values()) == len(stored)


@pytest.mark.parametrize(
    ("data", "reason", "alerts"),
    [
        (event(message="a" * MAX_ITEM_BYTES), reasons.TOO_LARGE, 1),
        (event(timestamp=made.NOW_MS - 30 * DAY_MS), reasons.EXPIRED, 1),
        (event(timestamp="0001-01-01T00:00Z"), reasons.EXPIRED, 1),
        (event(timestamp=made.NOW_MS + DAY_MS + 1), reasons.FROM_THE_FUTURE, 1),
        (event(timestamp=made.NOW_MS + DAY_MS + 1, level="WARN"), reasons.FROM_THE_FUTURE, 0),
        (event(timestamp=None), reasons.UNDATED, 0),
        (event(service=None), reasons.UNPARSABLE, 0),
    ],
)
def test_a_bad_event_is_kept_with_its_reason_and_its_place(
    data: bytes, reason: str, alerts: int
) -> None:
    good = [made.record(event(), number) for number in range(5)]
    services, summary, rows = run([*good, made.record(data, 7)], Table([]), Bus([]), 2)
    (row,) = rows
    assert (row["reason"], row["data"], row["sequenceNumber"]) == (reason, data, str(10**20 + 7))
    assert (row["stream"], row["shardId"], row["event"]) == ("logs", "shardId-000000000000", 0)
    assert (row["arrivalMs"], row["subSequenceNumber"]) == (made.NOW_MS, 0)
    assert len(services.table.stored) == summary.events == summary.errors == 5
    # An error raises its alert, whether it is stored or not.
    assert len(services.bus.published) == 5 + alerts
    assert {json.loads(detail)["kinesis"]["arrival"] for detail in services.bus.published} == {
        made.NOW_MS
    }
    assert all(abs(time_s - made.NOW_S) <= 1 for time_s in services.bus.times)


@pytest.mark.parametrize("age", [30 * DAY_MS - 1000, -DAY_MS])
def test_an_event_within_the_limits_of_its_age_is_stored(age: int) -> None:
    services, _, bad = run([made.record(event(timestamp=made.NOW_MS - age))], Table([]), Bus([]), 2)
    assert (len(services.table.stored), bad) == (1, [])


def test_many_bad_events_are_returned_before_the_end() -> None:
    records = [made.record(b"bad", number) for number in range(2500)]
    with pytest.MonkeyPatch.context() as patch:
        Services(patch, Table([]), Bus([]))
        sizes = [
            batch.num_rows for batch in partition.process_partition(SETTINGS, iter(arrow(records)))
        ]
    assert sizes == [1000, 1000, 500, 1]


def test_records_twice_in_a_partition_are_stored_once() -> None:
    services, summary, _ = run([made.record(event(), 1)] * 3, Table([]), Bus([]), 2)
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
        run(records, Table(tables), Bus(buses), 2)


def test_an_alert_is_published_after_its_event_is_stored() -> None:
    with pytest.MonkeyPatch.context() as patch:
        services = Services(patch, Table([refusal("AccessDeniedException")]), Bus([]))
        batches = iter(arrow([made.record(event())]))
        with pytest.raises(NotDeliveredError):
            list(partition.process_partition(SETTINGS, batches))
    assert services.bus.sizes == []


def test_bad_events_compare_by_value() -> None:
    (one,), (other,) = parse(made.record(b"x")), parse(made.record(b"x"))
    assert isinstance(one, BadEvent)
    assert one == other
