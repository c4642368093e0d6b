"""Entries and requests of EventBridge."""

from __future__ import annotations

import json
from typing import TYPE_CHECKING, Any

import made
import pytest
from hypothesis import given
from hypothesis import strategies as st
from test_table import PASSING, clock, refusal

from log_processing.alerts.entries import (
    MAX_DETAIL_BYTES,
    MAX_REQUEST_BYTES,
    Entry,
    entry,
    entry_plan,
)
from log_processing.alerts.publisher import Publisher
from log_processing.delivery.retry import NotDeliveredError

if TYPE_CHECKING:
    from log_processing.events.event import LogEvent


SERVICE_ENTRIES, SERVICE_BYTES = 10, 256 * 1024


def size(one: Entry) -> int:
    """As EventBridge documents it."""
    request = one.request("bus")
    texts = (request["Source"], request["DetailType"], request["Detail"])
    return 14 + sum(len(text.encode()) for text in texts)


@given(st.lists(made.events, max_size=30))
def test_requests_are_within_the_limits_and_have_each_entry_once(events: list[LogEvent]) -> None:
    entries = [entry(event) for event in events]
    plan = entry_plan()
    requests = [full for one in entries if (full := plan.add(one))]
    requests.append(plan.take())
    for request in requests:
        assert len(request) <= SERVICE_ENTRIES
        assert sum(size(one) for one in request) <= SERVICE_BYTES
        assert len({one.event.identity for one in request}) == len(request)
    sent = [one.event.identity for request in requests for one in request]
    assert set(sent) == {one.event.identity for one in entries}


def test_small_entries_fill_a_request() -> None:
    plan = entry_plan()
    requests = [plan.add(entry(made.log_event(number=number))) for number in range(25)]
    assert [len(request) for request in [*requests, plan.take()] if request] == [10, 10, 5]


def test_a_detail_has_the_event_and_its_place_in_kinesis() -> None:
    detail = json.loads(entry(made.log_event("text", context={"a": "1"})).detail)
    assert detail == {
        "timestamp": "2026-11-18T11:06:40.000000Z",
        "level": "INFO",
        "service": "checkout",
        "message": "text",
        "context": {"a": "1"},
        "kinesis": {
            "stream": "logs",
            "shardId": "shardId-000000000000",
            "sequenceNumber": "100000000000000000000",
            "subSequenceNumber": 0,
            "event": 0,
            "arrival": made.NOW_MS,
        },
    }


@pytest.mark.parametrize(
    ("message", "context", "shortened"),
    [
        (300_000, 10, ["message"]),
        (10, 300_000, ["context"]),
        (200_000, 100_000, ["message"]),
        (300_000, 300_000, ["message", "context"]),
    ],
)
@pytest.mark.parametrize("letter", ["a", "é", "\U0001f600", "\x00", '"'])
def test_a_large_event_is_shortened_as_little_as_possible(
    message: int, context: int, shortened: list[str], letter: str
) -> None:
    wide = len(json.dumps(letter, ensure_ascii=False).encode()) - 2
    event = made.log_event(letter * (message // wide), context={"a": letter * (context // wide)})
    one = entry(event)
    detail = json.loads(one.detail)
    assert detail["shortened"] == shortened
    assert event.message.startswith(detail["message"])
    assert size(one) == one.size <= MAX_REQUEST_BYTES
    if "message" in shortened:
        assert len(one.detail.encode()) > MAX_DETAIL_BYTES - 7
    if "context" not in shortened:
        assert detail["context"] == event.context


class Bus:
    """A client whose answers follow a script. After it, each request succeeds."""

    def __init__(self, script: list[Any]) -> None:
        self.script = script
        self.published: list[str] = []
        self.times: list[float] = []
        self.sizes: list[int] = []

    def put_events(self, *, Entries: list[dict[str, Any]]) -> dict[str, Any]:  # noqa: N803
        self.sizes.append(len(Entries))
        step = self.script.pop(0) if self.script else set()
        if isinstance(step, Exception):
            raise step.with_traceback(None)
        results: list[dict[str, Any]] = []
        for index, one in enumerate(Entries):
            if index in step:
                results.append({"ErrorCode": "InternalFailure", "ErrorMessage": "later"})
            else:
                self.published.append(one["Detail"])
                self.times.append(one["Time"])
                results.append({"EventId": "1"})
        failed = len(step & set(range(len(Entries))))
        return {"FailedEntryCount": failed, "Entries": results}


@given(
    st.integers(1, 10),
    st.lists(st.sets(st.integers(0, 9)) | st.sampled_from(PASSING), max_size=10),
)
def test_failed_entries_alone_are_sent_again(count: int, script: list[Any]) -> None:
    bus = Bus(list(script))
    entries = [entry(made.log_event(f"m{n}", n)) for n in range(count)]
    assert Publisher(bus, "alerts", 3600, clock()).publish(entries) == []
    assert sorted(bus.published) == sorted(one.detail for one in entries)


def test_an_incomplete_answer_is_not_believed() -> None:
    bus = Bus([])
    answers = [{"FailedEntryCount": 1, "Entries": []}, {"FailedEntryCount": 0}]
    bus.put_events = lambda **_: answers.pop(0)  # type: ignore[method-assign,assignment]
    assert Publisher(bus, "alerts", 60, clock()).publish([entry(made.log_event())]) == []
    assert answers == []


def test_an_error_that_stays_names_the_bus() -> None:
    bus = Bus([refusal("AccessDeniedException")])
    with pytest.raises(NotDeliveredError, match=r"bus 'alerts'.*AccessDenied"):
        Publisher(bus, "alerts", 60, clock()).publish([entry(made.log_event())])


def test_failures_without_end_fail_at_the_deadline() -> None:
    bus = Bus([{0}] * 10_000)
    with pytest.raises(NotDeliveredError, match=r"1 of 1.*within 60 s.*InternalFailure: later"):
        Publisher(bus, "alerts", 60, clock()).publish([entry(made.log_event())])
