"""Payloads of CloudWatch Logs subscriptions: which events they contain."""

from __future__ import annotations

import gzip
import json

import made
import pytest
from test_parsing import EVENT

from log_processing.events import cloudwatch, reasons
from log_processing.events.event import BadEvent, LogEvent
from log_processing.events.parsing import parse


def of_payload(*entries: object) -> list[LogEvent | BadEvent]:
    return parse(made.record(payload(*entries)))


def payload(*entries: object, kind: str = "DATA_MESSAGE") -> bytes:
    fields = {"messageType": kind, "logGroup": "g", "logStream": "s", "logEvents": entries}
    return gzip.compress(json.dumps(fields).encode())


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


@pytest.mark.parametrize("service", [{}, {"service": None}, {"service": ""}, {"service": 5}])
def test_a_json_message_without_a_service_has_that_of_the_log_group(
    service: dict[str, object],
) -> None:
    own = {"level": "error", "message": "own", "timestamp": 5000, "context": {"a": 1}}
    (one,) = of_payload({"id": "1", "timestamp": 1000, "message": json.dumps({**own, **service})})
    assert isinstance(one, LogEvent)
    assert (one.time_us, one.level, one.service) == (5_000_000, "error", "g")
    assert (one.message, one.context) == ("own", {"a": "1"})


def test_a_json_message_without_a_service_and_a_time_has_that_of_the_log_event() -> None:
    (one,) = of_payload({"timestamp": 1000, "message": '{"level": "error", "message": "own"}'})
    assert isinstance(one, LogEvent)
    assert (one.time_us, one.level, one.message) == (1_000_000, "error", "own")


def test_a_json_message_with_a_context_of_another_kind_is_text() -> None:
    message = json.dumps({**EVENT, "level": "error", "context": "main"})
    (one,) = of_payload({"timestamp": 1000, "message": message})
    assert isinstance(one, LogEvent)
    assert (one.level, one.service, one.message) == ("error", "g", message)


@pytest.mark.parametrize(
    ("message", "level"),
    [
        ("2026-11-23 07:15:09 ERROR disk full", "ERROR"),
        ("time=07:15 level=error msg=full", "error"),
        ('level="Warn" msg=full', "Warn"),
        ("LEVEL=ERROR msg=full", "ERROR"),
        ('{"level":"error","msg":"INFO page"}', "error"),
        ('{"log.level" : "fatal", "msg": "full"}', "fatal"),
        ("2026/11/23 07:15:09 [error] 7#0: no file", "error"),
        ("ERROR cannot read level=info", "ERROR"),
        ("[debug] ERROR page shown", "debug"),
        ("an error in a sentence", "INFO"),
        ("[errors] level=warning_count battery level: critical", "INFO"),
        ("toplevel=error", "INFO"),
        (" " * 256 + "ERROR", "INFO"),
    ],
)
def test_the_level_of_a_message_is_the_first_clear_one(message: str, level: str) -> None:
    (one,) = of_payload({"timestamp": 1000, "message": message})
    assert isinstance(one, LogEvent)
    assert (one.level, one.message) == (level, message)


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


def test_a_payload_with_countless_events_is_one_bad_event() -> None:
    (bad,) = of_payload(*[0] * (cloudwatch.MAX_EVENTS + 1))
    assert isinstance(bad, BadEvent)
    assert "log events" in bad.detail


def test_data_after_the_compressed_record_is_not_lost() -> None:
    record = made.record(payload(kind="CONTROL_MESSAGE") + payload({"message": "m"}))
    (bad,) = parse(record)
    assert isinstance(bad, BadEvent)
    assert bad.data == record.data
