"""Keys, items, and what DynamoDB does not accept at once."""

from __future__ import annotations

import json
import threading
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st
from made import ARRIVAL_MS, event
from test_sending import error

from log_processing import alerts
from log_processing.alerts import alert_of, publish
from log_processing.sending import Delivery, NotDeliveredError
from log_processing.table import Item, event_keys, item_of, partition_key, store

DELIVERY = Delivery("table 'logs'", 3600, threading.Event())


@pytest.fixture(autouse=True)
def _no_pauses(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("log_processing.sending.random.uniform", lambda *_: 0)


def test_the_keys_of_an_event() -> None:
    assert event_keys(event(service="a#b%c")) == (
        "a%23b%25c#2026-11-23T06#b15",
        "2026-11-23T06:15:09.123000Z#logs#shardId-000000000000#49661#0#0",
    )


@given(st.text(), st.text())
def test_two_services_never_share_a_partition(one: str, other: str) -> None:
    same = partition_key(one, "2026-11-23T06", 3) == partition_key(other, "2026-11-23T06", 3)
    assert same == (one == other)
    assert "#" not in partition_key(one, "", 0).removesuffix("##b0")


def test_an_item_expires_and_knows_its_size() -> None:
    item = item_of(event(context={"id": "ü"}), 30)
    assert item.attributes["expiresAt"] == {"N": str(ARRIVAL_MS // 1000 + 30 * 86_400)}
    texts = [*item.attributes, *(it["S"] for it in item.attributes.values() if "S" in it)]
    # By DynamoDB's rules: a number has at most 21 bytes, a map 3, and each of its entries 1.
    numbers, context = len("storedAt") + 3 * 21, 3 + 1 + len("idü".encode())
    assert item.size == len("".join(texts).encode()) + numbers + context


class Table:
    """A table that stores one item per request, and refuses those with a bad message."""

    def __init__(self) -> None:
        self.items: dict[tuple[str, str], Any] = {}
        self.requests = 0

    def batch_write_item(self, **request: Any) -> dict[str, Any]:
        self.requests += 1
        puts = request["RequestItems"]["logs"]
        if any(it["PutRequest"]["Item"]["message"]["S"] == "bad" for it in puts):
            raise error("ValidationException")
        if self.requests == 1:
            raise error("ThrottlingException")
        first, *others = puts
        item = first["PutRequest"]["Item"]
        self.items[item["pk"]["S"], item["sk"]["S"]] = item
        return {"UnprocessedItems": {"logs": others}} if others else {}


def items(*messages: str) -> list[Item]:
    return [item_of(event(number, message=it), 30) for number, it in enumerate(messages)]


def test_all_items_are_stored_once_whatever_dynamodb_leaves_out() -> None:
    table = Table()
    for _ in range(2):  # as if the task ran twice
        stored = store(items("a", "b", "c"), "logs", lambda: table, DELIVERY)
        assert len(stored.items) == 3
        assert not stored.refused
    assert len(table.items) == 3
    assert all(int(it["storedAt"]["N"]) <= stored.at_ms for it in table.items.values())


def test_a_refused_item_does_not_keep_others_out() -> None:
    table = Table()
    stored = store(items("a", "bad", "c"), "logs", lambda: table, DELIVERY)
    assert [it.entry.event.message for it in stored.refused] == ["bad"]
    assert [it.event.message for it in stored.items] == ["a", "c"]
    assert {it["message"]["S"] for it in table.items.values()} == {"a", "c"}


def test_an_answer_to_another_request_is_not_believed() -> None:
    class Wrong(Table):
        def batch_write_item(self, **request: Any) -> dict[str, Any]:
            answer = super().batch_write_item(**request)
            if self.requests == 2:
                other = {"pk": {"S": "x"}, "sk": {"S": "y"}}
                return {"UnprocessedItems": {"logs": [{"PutRequest": {"Item": other}}]}}
            return answer

    table = Wrong()
    store(items("a", "b"), "logs", lambda: table, DELIVERY)
    assert len(table.items) == 2


class Bus:
    """A bus that answers with these codes, entry by entry, and then accepts everything."""

    def __init__(self, *codes: str | None) -> None:
        self.codes, self.published = list(codes), list[Any]()

    def put_events(self, Entries: list[Any]) -> dict[str, Any]:  # noqa: N803
        results = []
        for entry in Entries:
            code = self.codes.pop(0) if self.codes else None
            self.published += [] if code else [json.loads(entry["Detail"])]
            results.append({"ErrorCode": code} if code else {"EventId": "1"})
        failed = sum("ErrorCode" in it for it in results)
        return {"FailedEntryCount": failed, "Entries": results}


def published(bus: Bus, count: int) -> list[str]:
    """Publish some alerts. Returns the messages of the refused ones."""
    made = [alert_of(event(number, level="ERROR", message=str(number))) for number in range(count)]
    refused = publish(made, "alerts", lambda: bus, DELIVERY)
    return [it.entry.event.message for it in refused]


def test_alerts_are_published_again_until_the_bus_accepts_or_refuses_them() -> None:
    bus = Bus(None, "ThrottlingException", "MalformedDetail", "InternalFailure")
    assert published(bus, 4) == ["2"]
    assert [it["message"] for it in bus.published] == ["0", "1", "3"]


def test_a_bus_that_refuses_the_job_fails_the_task() -> None:
    with pytest.raises(NotDeliveredError, match="AccessDenied"):
        published(Bus(None, "AccessDeniedException"), 2)


def test_a_large_alert_is_shortened_and_says_so() -> None:
    small = json.loads(alert_of(event(level="FATAL", context={"id": "1"})).detail)
    assert (small["shortened"], small["context"], small["message"]) == ([], {"id": "1"}, "m")
    pk, sk = event_keys(event())
    assert small["item"] == {"pk": pk, "sk": sk}
    large = alert_of(event(message="\0" * 100_000, context={"id": "ü" * 150_000}))
    assert json.loads(large.detail)["shortened"] == ["message", "context"]
    assert len(large.detail.encode()) < large.size < alerts.MAX_REQUEST_BYTES
