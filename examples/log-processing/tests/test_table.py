"""Items, requests and the writer of the table."""

from __future__ import annotations

import json
import random
from typing import TYPE_CHECKING, Any

import made
import pytest
from botocore.exceptions import ClientError, ConnectTimeoutError
from hypothesis import given
from hypothesis import strategies as st

from log_processing.delivery.clock import Clock
from log_processing.delivery.retry import NotDeliveredError
from log_processing.table import keys
from log_processing.table.items import MAX_ITEM_BYTES, Item, event_item, progress_item
from log_processing.table.requests import MAX_REQUEST_BYTES, item_plan
from log_processing.table.writer import TableWriter

if TYPE_CHECKING:
    from log_processing.events.event import LogEvent

SERVICE_LIMIT, SERVICE_ITEMS = 16 * 1024 * 1024, 25


def planned(items: list[Item]) -> list[list[Item]]:
    plan = item_plan()
    requests = [full for item in items if (full := plan.add(item))]
    return [*requests, *([rest] if (rest := plan.take()) else [])]


@given(st.lists(made.events, max_size=60))
def test_requests_are_within_the_limits_and_have_each_item_once(events: list[LogEvent]) -> None:
    items = [event_item(event, 30) for event in events]
    items = [item for item in items if item.stored_bytes <= MAX_ITEM_BYTES]
    requests = planned(items)
    for request in requests:
        assert 1 <= len(request) <= SERVICE_ITEMS
        assert sum(item.sent_bytes for item in request) <= MAX_REQUEST_BYTES
        body = {"RequestItems": {"t" * 255: [put(item) for item in request]}}
        assert len(json.dumps(body)) < SERVICE_LIMIT
        assert len({item.key for item in request}) == len(request)
    assert {item.key for request in requests for item in request} == {item.key for item in items}


def test_small_items_fill_a_request() -> None:
    items = [event_item(made.log_event(number=number), 30) for number in range(60)]
    assert [len(request) for request in planned(items)] == [25, 25, 10]


def test_the_largest_items_fit_into_requests() -> None:
    messages = ["\x00" * (MAX_ITEM_BYTES - 700)] * 30
    items = [event_item(made.log_event(text, number), 30) for number, text in enumerate(messages)]
    assert all(item.stored_bytes <= MAX_ITEM_BYTES for item in items)
    requests = planned(items)
    bodies = [json.dumps([put(item) for item in request]) for request in requests]
    # A task holds several requests in memory, so that they are much smaller than they may be.
    assert max(map(len, bodies)) < SERVICE_LIMIT / 2
    assert sum(map(len, requests)) == 30


def put(item: Item) -> dict[str, Any]:
    return {"PutRequest": {"Item": {**item.attributes, "storedAt": {"N": "1" * 13}}}}


@given(made.events)
def test_the_size_in_a_request_is_not_too_small(event: LogEvent) -> None:
    item = event_item(event, 30)
    text = json.dumps(put(item))
    assert len(text) <= item.sent_bytes + 400  # braces and types
    values = [next(iter(value.values())) for value in item.attributes.values()]
    assert item.stored_bytes >= sum(len(v.encode()) for v in values if isinstance(v, str))


def test_an_item_looks_like_this() -> None:
    event = made.log_event("text", level="Error", context={"a": "1"})
    item = event_item(event, 2)
    partition, sort = keys.event_keys("checkout", event.time_us, event.identity)
    assert item.attributes == {
        "pk": {"S": partition},
        "sk": {"S": sort},
        "timestamp": {"S": keys.time_text(event.time_us)},
        "level": {"S": "Error"},
        "service": {"S": "checkout"},
        "message": {"S": "text"},
        "context": {"M": {"a": {"S": "1"}}},
        "arrival": {"N": str(made.NOW_MS)},
        "expiresAt": {"N": str(made.NOW_S + 2 * 86_400)},
    }
    done = progress_item(("#progress#logs", "7"), "{}", 5)
    assert set(done.attributes) == {"pk", "sk", "progress", "expiresAt"}


class Table:
    """A client whose answers follow a script. After it, each request succeeds."""

    def __init__(self, script: list[Any], answers_with: str = "logs") -> None:
        self.script = script
        self.answers_with = answers_with
        self.stored: dict[tuple[str, str], Any] = {}
        self.sizes: list[int] = []

    def batch_write_item(self, *, RequestItems: dict[str, Any]) -> dict[str, Any]:  # noqa: N803
        puts = RequestItems["logs"]
        self.sizes.append(len(puts))
        step = self.script.pop(0) if self.script else 0
        if isinstance(step, Exception):
            raise step.with_traceback(None)
        left, taken = puts[:step], puts[step:]
        for one in taken:
            item = one["PutRequest"]["Item"]
            self.stored[item["pk"]["S"], item["sk"]["S"]] = item
        return {"UnprocessedItems": {self.answers_with: list(reversed(left))} if left else {}}


def refusal(code: str, status: int = 400) -> ClientError:
    answer: Any = {"Error": {"Code": code}, "ResponseMetadata": {"HTTPStatusCode": status}}
    return ClientError(answer, "BatchWriteItem")


def clock() -> Clock:
    now = [0.0]

    def sleep(seconds: float) -> None:
        now[0] += seconds

    return Clock(lambda: now[0], sleep, random.Random(1).random)


PASSING = [
    refusal("ProvisionedThroughputExceededException"),
    refusal("ThrottlingException"),
    refusal("InternalServerError", 500),
    refusal("AnyOther", 503),
    ConnectTimeoutError(endpoint_url="http://127.0.0.1"),
]


@given(
    st.integers(1, 25),
    st.lists(st.integers(0, 25) | st.sampled_from(PASSING), max_size=10),
)
def test_each_item_is_stored_whatever_is_refused(count: int, script: list[Any]) -> None:
    table = Table(list(script))
    items = [event_item(made.log_event(number=n), 30) for n in range(count)]
    TableWriter(table, "logs", 3600, clock()).store(items)
    assert set(table.stored) == {item.key for item in items}
    assert all("storedAt" in item for item in table.stored.values())
    assert table.sizes == sorted(table.sizes, reverse=True)  # what is stored is not sent again


@pytest.mark.parametrize("code", ["AccessDeniedException", "ResourceNotFoundException"])
def test_an_error_that_stays_fails_at_once(code: str) -> None:
    table = Table([refusal(code)])
    with pytest.raises(NotDeliveredError, match=f"table 'logs'.*{code}"):
        TableWriter(table, "logs", 60, clock()).store([event_item(made.log_event(), 30)])
    assert table.sizes == [1]


def test_throttling_without_end_fails_at_the_deadline() -> None:
    table = Table([refusal("ThrottlingException")] * 10_000)
    with pytest.raises(NotDeliveredError, match=r"1 of 1 were not accepted within 60 s.*Throttl"):
        TableWriter(table, "logs", 60, clock()).store([event_item(made.log_event(), 30)])


def test_unprocessed_items_count_under_any_name_of_the_table() -> None:
    table = Table([2], "arn:aws:dynamodb:eu-west-1:123456789012:table/logs")
    items = [event_item(made.log_event(number=n), 30) for n in range(3)]
    TableWriter(table, "logs", 60, clock()).store(items)
    assert set(table.stored) == {item.key for item in items}


def test_unprocessed_items_of_another_request_do_not_count() -> None:
    table = Table([])
    other = event_item(made.log_event(number=9), 30)
    answers = [{"UnprocessedItems": {"logs": [put(other)]}}]
    real = table.batch_write_item

    def first_wrong(**request: Any) -> dict[str, Any]:
        real(**request)
        return answers.pop() if answers else {"UnprocessedItems": {}}

    table.batch_write_item = first_wrong  # type: ignore[method-assign]
    TableWriter(table, "logs", 60, clock()).store([event_item(made.log_event(), 30)])
    assert table.sizes == [1, 1]
