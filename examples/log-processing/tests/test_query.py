"""Queries: all events of a span, in order, whatever their bucket and page."""

from __future__ import annotations

import random
import threading
from datetime import datetime, timedelta, timezone
from functools import partial
from itertools import islice
from typing import TYPE_CHECKING, Any

import pytest
from made import event

from log_processing import query
from log_processing.sending import Delivery, client
from log_processing.table import item_of, store
from trial.services import TABLE

if TYPE_CHECKING:
    from collections.abc import Iterator

START = datetime(2026, 11, 23, 6, 30, tzinfo=timezone.utc)
EVENTS = 140  # in 16 buckets of each hour, and in pages of 5


@pytest.fixture
def dynamodb(moto: str, monkeypatch: pytest.MonkeyPatch) -> Any:
    """A client of a table with events of two services, one per minute from `START`."""
    monkeypatch.setattr(query, "PAGE_SIZE", 5)
    made = [
        event(number, service=service, timestamp=_millis(number), message=str(number))
        for service in ("checkout", "other")
        for number in range(EVENTS)
    ]
    random.Random(1).shuffle(made)
    items = [item_of(it, 30) for it in made]
    delivery = Delivery(f"table '{TABLE}'", 60, threading.Event())
    for first in range(0, len(items), 25):
        store(items[first : first + 25], TABLE, partial(client, "dynamodb", None, moto), delivery)
    return client("dynamodb", None, moto)


def _millis(minutes: int) -> int:
    return int((START + timedelta(minutes=minutes)).timestamp() * 1000)


def numbers(dynamodb: Any, start: int, end: int, *, newest_first: bool = False) -> Iterator[int]:
    """The numbers of the events between two minutes."""
    span = START + timedelta(minutes=start), START + timedelta(minutes=end)
    found = query.events(TABLE, "checkout", *span, newest_first=newest_first, dynamodb=dynamodb)
    return (int(it["message"]) for it in found)


def test_a_span_has_all_its_events_in_the_order_of_time(dynamodb: Any) -> None:
    assert list(numbers(dynamodb, 0, EVENTS)) == list(range(EVENTS))
    assert list(numbers(dynamodb, 10, 95, newest_first=True)) == list(range(94, 9, -1))
    assert list(numbers(dynamodb, 7, 7)) == []


def test_the_latest_events_take_no_requests_for_earlier_hours(dynamodb: Any) -> None:
    asked = []

    class Counted:
        def query(self, **request: Any) -> Any:
            asked.append(request["ExpressionAttributeValues"][":pk"]["S"][:22])
            return dynamodb.query(**request)

    latest = islice(numbers(Counted(), 0, EVENTS, newest_first=True), 20)
    assert list(latest) == list(range(EVENTS - 1, EVENTS - 21, -1))
    assert set(asked) == {"checkout#2026-11-23T08"}


def test_an_event_has_plain_attributes(dynamodb: Any) -> None:
    (found,) = query.events(
        TABLE, "checkout", START, START + timedelta(minutes=1), dynamodb=dynamodb
    )
    assert (found["level"], found["context"]) == ("INFO", {})
    assert found["timestamp"] == "2026-11-23T06:30:00.000000Z"
    assert found["storedAt"] > found["arrival"] > 0


def test_times_without_a_zone_are_refused(dynamodb: Any) -> None:
    with pytest.raises(ValueError, match="need a time zone"):
        next(query.events(TABLE, "a", START.replace(tzinfo=None), START, dynamodb=dynamodb))
