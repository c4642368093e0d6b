"""Entries that a service refuses for what they contain: the others arrive, and the job goes on."""

from __future__ import annotations

import json
from typing import Any

import made
import pytest
from task import event, run
from test_alerts import Bus
from test_table import Table, clock, refusal

from log_processing.alerts.entries import entry
from log_processing.alerts.publisher import Publisher
from log_processing.delivery.retry import NotDeliveredError
from log_processing.events import reasons
from log_processing.table.items import event_item
from log_processing.table.writer import TableWriter


class RefusingBus:
    """A client that refuses entries by their message, each time the same."""

    def __init__(self, **codes: str) -> None:
        self.codes = codes
        self.published: list[str] = []
        self.requests = 0

    def put_events(self, *, Entries: list[dict[str, Any]]) -> dict[str, Any]:  # noqa: N803
        self.requests += 1
        messages = [json.loads(one["Detail"])["message"] for one in Entries]
        codes = [self.codes.get(message) for message in messages]
        if "ValidationException" in codes:
            raise refusal("ValidationException")
        self.published += [it for it, code in zip(messages, codes) if not code]
        results = [
            {"ErrorCode": code, "ErrorMessage": f"about {code}"} if code else {"EventId": "1"}
            for code in codes
        ]
        return {"FailedEntryCount": sum(map(bool, codes)), "Entries": results}


class PickyTable(Table):
    """A client that refuses each request with one of some messages."""

    def __init__(self, *refused: str) -> None:
        super().__init__([])
        self.refused = set(refused)

    def batch_write_item(self, **request: Any) -> dict[str, Any]:
        puts = request["RequestItems"]["logs"]
        if self.refused & {one["PutRequest"]["Item"]["message"]["S"] for one in puts}:
            raise refusal("ValidationException")
        return super().batch_write_item(**request)


def publisher(bus: RefusingBus) -> Publisher:
    return Publisher(bus, "alerts", 60, clock())


ENTRIES = [entry(made.log_event(f"m{n}", n)) for n in range(3)]
ITEMS = [event_item(made.log_event(f"m{n}", n), 30) for n in range(3)]


@pytest.mark.parametrize(
    "code",
    [
        "AccessDeniedException",
        "InvalidAccountIdException",
        "NotAuthorizedForDetailTypeException",
        "NotAuthorizedForSourceException",
    ],
)
def test_a_bus_that_refuses_the_job_fails_the_task_at_once(code: str) -> None:
    bus = RefusingBus(m1=code, m2="ThrottlingException")
    said = f"bus 'alerts': alerts: 1 of 3 were refused for good: {code}: about {code}"
    with pytest.raises(NotDeliveredError, match=said):
        publisher(bus).publish(ENTRIES)
    assert bus.requests == 1


@pytest.mark.parametrize("code", ["InvalidArgument", "MalformedDetail", "RedactionFailure"])
@pytest.mark.parametrize("refused", [["m1"], ["m0", "m1", "m2"]])
def test_an_entry_that_is_refused_each_time_is_not_sent_again(
    code: str, refused: list[str]
) -> None:
    bus = RefusingBus(**dict.fromkeys(refused, code))
    done = publisher(bus).publish(ENTRIES)
    assert len(bus.published) == 3 - len(refused)
    assert [it.entry.event.message for it in done] == refused
    assert {it.reason for it in done} == {f"{code}: about {code}"}
    assert bus.requests == 1


@pytest.mark.parametrize("code", ["InternalFailure", "ThrottlingException", "NeverSeenBefore"])
def test_an_entry_with_any_other_code_is_sent_again(code: str) -> None:
    bus = RefusingBus(m0=code)
    with pytest.raises(NotDeliveredError, match=f"within 60 s.*{code}: about {code}"):
        publisher(bus).publish(ENTRIES[:1])
    assert bus.requests > 1


def test_an_invalid_entry_does_not_stop_the_others_of_its_request() -> None:
    bus = RefusingBus(m0="MalformedDetail", m1="ValidationException")
    done = publisher(bus).publish(ENTRIES)
    assert bus.published == ["m2"]
    assert sorted(it.entry.event.message for it in done) == ["m0", "m1"]


def test_an_invalid_item_does_not_stop_the_others_of_its_request() -> None:
    done = TableWriter(PickyTable("m1"), "logs", 60, clock()).store(ITEMS)
    assert [it.key for it in done.items] == [ITEMS[0].key, ITEMS[2].key]
    (refused,) = done.refused
    assert refused.entry == ITEMS[1]
    assert refused.reason.startswith("table 'logs': items: An error occurred (ValidationException)")


def test_a_table_that_refuses_each_of_several_items_fails_the_task() -> None:
    table = PickyTable("m0", "m1", "m2")
    with pytest.raises(NotDeliveredError, match=r"table 'logs'.*ValidationException"):
        TableWriter(table, "logs", 60, clock()).store(ITEMS)
    assert TableWriter(table, "logs", 60, clock()).store(ITEMS[:1]).items == []


def test_other_errors_that_stay_are_not_tried_item_by_item() -> None:
    table = Table([refusal("AccessDeniedException")])
    with pytest.raises(NotDeliveredError, match="AccessDenied"):
        TableWriter(table, "logs", 60, clock()).store(ITEMS)
    assert table.sizes == [3]


def records(*messages: str) -> list[Any]:
    return [made.record(event(message=it), number) for number, it in enumerate(messages)]


def kept(rows: list[dict[str, Any]]) -> list[tuple[str, str]]:
    return [(row["reason"], json.loads(row["data"])["message"]) for row in rows]


def test_an_alert_that_is_refused_is_kept_and_its_event_is_stored() -> None:
    bus = RefusingBus(b="MalformedDetail")
    services, summary, rows = run(records("a", "b", "c"), Table([]), bus, 2)
    assert kept(rows) == [(reasons.ALERT_REFUSED, "b")]
    assert (len(services.table.stored), bus.published) == (3, ["a", "c"])
    assert (summary.events, summary.errors, summary.bad) == (3, 3, 1)


def test_an_event_that_dynamodb_refuses_is_kept_and_raises_its_alert() -> None:
    bus = Bus([])
    services, summary, rows = run(records("a", "b", "c"), PickyTable("b"), bus, 2)
    assert kept(rows) == [(reasons.REFUSED, "b")]
    assert (len(services.table.stored), len(bus.published)) == (2, 3)
    assert (summary.events, summary.errors, summary.bad) == (2, 2, 1)
