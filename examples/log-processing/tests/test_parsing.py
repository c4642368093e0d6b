"""From records to events: nothing raises, and the same record gives the same events."""

from __future__ import annotations

import gzip
import json

import made
import pytest
from hypothesis import given

from log_processing.events import cloudwatch, reasons
from log_processing.events.event import BadEvent, LogEvent
from log_processing.events.parsing import MAX_LEVEL_CHARACTERS, parse
from log_processing.table.items import event_item

EVENT = {"timestamp": made.NOW_MS, "level": "INFO", "service": "a", "message": "m"}


def parsed(fields: object) -> LogEvent | BadEvent:
    (one,) = parse(made.record(json.dumps(fields).encode()))
    return one


def of_payload(*entries: object) -> list[LogEvent | BadEvent]:
    return parse(made.record(payload(*entries)))


def payload(*entries: object, kind: str = "DATA_MESSAGE") -> bytes:
    fields = {"messageType": kind, "logGroup": "g", "logStream": "s", "logEvents": entries}
    return gzip.compress(json.dumps(fields).encode())


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


def test_each_log_event_of_a_payload_is_an_event() -> None:
    own = {"level": "ERROR", "service": "b", "message": "own"}
    first, second, third, fourth = of_payload(
        {"id": "1", "timestamp": 1000, "message": "2026 WARN: ERROR later"},
        {"id": "2", "timestamp": 2000, "message": json.dumps(own)},
        {"id": "3"},
        {"id": "4", "timestamp": 4000, "message": '{"level": "", "text": "no level"}'},
    )
    assert isinstance(first, LogEvent)
    assert (first.time_us, first.level, first.service) == (1_000_000, "WARN", "g")
    assert first.context == {"logStream": "s", "id": "1"}
    assert isinstance(second, LogEvent)
    assert (second.time_us, second.level, second.service) == (2_000_000, "ERROR", "b")
    assert isinstance(third, BadEvent)
    assert json.loads(third.data) == {"id": "3"}
    assert isinstance(fourth, LogEvent)
    assert (fourth.level, fourth.service) == ("INFO", "g")
    assert [one.identity.event for one in (first, second, third, fourth)] == [0, 1, 2, 3]


def test_an_own_time_counts_more_than_that_of_the_payload() -> None:
    message = json.dumps({**EVENT, "timestamp": 5000})
    (one,) = of_payload({"timestamp": 1000, "message": message})
    assert isinstance(one, LogEvent)
    assert one.time_us == 5_000_000


def test_a_control_message_has_no_events() -> None:
    assert parse(made.record(payload("anything", kind="CONTROL_MESSAGE"))) == []


@pytest.mark.parametrize(
    "data",
    [
        gzip.compress(b"0" * (cloudwatch.MAX_BYTES + 1)),
        payload({"message": "m"})[:-10],
        payload({"message": "m"})[:-4],  # only the checksum is cut
        payload(kind="OTHER"),
        gzip.compress(b"[" * 100_000),
        gzip.compress(b"{}"),
        gzip.compress(b"[]"),
        gzip.compress(b'{"messageType": "DATA_MESSAGE"}'),
        gzip.compress(b'{"messageType": "DATA_MESSAGE", "logGroup": "g", "logStream": "s"}'),
    ],
    ids=[
        "larger than allowed",
        "cut",
        "without a checksum",
        "of another kind",
        "nested",
        "empty",
        "a list",
        "without names",
        "without events",
    ],
)
def test_a_wrong_payload_is_one_bad_event(data: bytes) -> None:
    (one,) = parse(made.record(data))
    assert isinstance(one, BadEvent)
    assert (one.reason, one.data) == (reasons.UNPARSABLE, data)


@pytest.mark.parametrize("depth", [200, 900, 960, 985, 990, 995, 5000])
def test_deep_json_never_raises(depth: int) -> None:
    deep = "[" * depth + "]" * depth
    event = json.dumps(EVENT)[:-1]
    assert len(parse(made.record(f'{event}, "context": {{"x": {deep}}}}}'.encode()))) == 1
    entry = f'{{"id": {deep}, "timestamp": 1, "message": "m"}}'
    whole = f'{{"messageType":"DATA_MESSAGE","logGroup":"g","logStream":"s","logEvents":[{entry}]}}'
    assert len(parse(made.record(gzip.compress(whole.encode())))) == 1


def test_a_payload_with_countless_events_is_one_bad_event() -> None:
    (bad,) = of_payload(*[0] * (cloudwatch.MAX_EVENTS + 1))
    assert isinstance(bad, BadEvent)
    assert "log events" in bad.detail


def test_data_after_the_compressed_record_is_not_lost() -> None:
    record = made.record(payload(kind="CONTROL_MESSAGE") + payload({"message": "m"}))
    (bad,) = parse(record)
    assert isinstance(bad, BadEvent)
    assert bad.data == record.data
