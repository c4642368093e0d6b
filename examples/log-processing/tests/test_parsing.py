"""From records to events: nothing raises, and the same record gives the same events."""

from __future__ import annotations

import gzip
import json

import made
import pytest
from hypothesis import given

from log_processing.events import reasons
from log_processing.events.event import BadEvent, LogEvent
from log_processing.events.parsing import MAX_LEVEL_CHARACTERS, parse
from log_processing.table.items import event_item

EVENT = {"timestamp": made.NOW_MS, "level": "INFO", "service": "a", "message": "m"}


def parsed(fields: object) -> LogEvent | BadEvent:
    (one,) = parse(made.record(json.dumps(fields).encode()))
    return one


@given(made.data)
def test_every_record_gives_the_same_events_each_time(data: bytes) -> None:
    record = made.record(data)
    events = parse(record)
    assert events == parse(record)
    assert [one.identity.event for one in events] == list(range(len(events)))
    for one in events:
        if isinstance(one, LogEvent):
            # What is stored can be sent.
            json.dumps(event_item(one, 30).attributes, ensure_ascii=False).encode()
            assert one.level
            assert one.service
            assert "" not in one.context
        else:
            assert one.reason
            assert one.detail


@given(made.fields)
def test_an_event_keeps_its_values(fields: dict[str, object]) -> None:
    one = parsed({**fields, **EVENT, "context": {"a": 1, "b": "text", "c": [None]}})
    assert isinstance(one, LogEvent)
    assert (one.time_us, one.level, one.service) == (made.NOW_MS * 1000, "INFO", "a")
    assert one.context == {"a": "1", "b": "text", "c": "[null]"}


@pytest.mark.parametrize(
    ("change", "reason"),
    [
        ({"level": ""}, reasons.UNPARSABLE),
        ({"service": None}, reasons.UNPARSABLE),
        ({"message": 5}, reasons.UNPARSABLE),
        ({"context": "text"}, reasons.UNPARSABLE),
        ({"context": {"": 1, "(empty)": 2}}, reasons.UNPARSABLE),
        ({"context": {"?": 1, "\ud800": 2}}, reasons.UNPARSABLE),
        ({"timestamp": None}, reasons.UNDATED),
        ({"timestamp": "yesterday"}, reasons.UNDATED),
        ({"timestamp": True}, reasons.UNDATED),
        ({"timestamp": 10**30}, reasons.UNDATED),
        ({"service": "a" * 513}, reasons.TOO_LARGE),
        ({"level": "a" * (MAX_LEVEL_CHARACTERS + 1)}, reasons.TOO_LARGE),
        ({"context": {"a" * 65_536: 1}}, reasons.TOO_LARGE),
    ],
)
def test_a_wrong_field_is_a_reason(change: dict[str, object], reason: str) -> None:
    one = parsed({**EVENT, **change})
    assert isinstance(one, BadEvent)
    assert one.reason == reason
    assert next(iter(change)) in one.detail
    assert json.loads(one.data) == {**EVENT, **change}


@pytest.mark.parametrize("data", [b"", b"[]", b"no JSON", b"\xff", b"[" * 100_000, b"9" * 5000])
def test_what_is_no_object_is_unparsable(data: bytes) -> None:
    (one,) = parse(made.record(data))
    assert isinstance(one, BadEvent)
    assert (one.reason, one.data) == (reasons.UNPARSABLE, data)


def test_a_message_may_be_empty_and_a_context_may_be_null() -> None:
    one = parsed({**EVENT, "message": "", "context": None})
    assert isinstance(one, LogEvent)
    assert (one.message, one.context) == ("", {})


def test_half_a_character_becomes_a_question_mark() -> None:
    one = parsed({**EVENT, "message": "a\ud800b"})
    assert isinstance(one, LogEvent)
    assert one.message == "a?b"


@pytest.mark.parametrize("depth", [200, 900, 960, 985, 990, 995, 5000])
def test_deep_json_never_raises(depth: int) -> None:
    deep = "[" * depth + "]" * depth
    event = json.dumps(EVENT)[:-1]
    assert len(parse(made.record(f'{event}, "context": {{"x": {deep}}}}}'.encode()))) == 1
    entry = f'{{"id": {deep}, "timestamp": 1, "message": "m"}}'
    whole = f'{{"messageType":"DATA_MESSAGE","logGroup":"g","logStream":"s","logEvents":[{entry}]}}'
    assert len(parse(made.record(gzip.compress(whole.encode())))) == 1
