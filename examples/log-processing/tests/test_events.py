"""What becomes of a record: the table in the README, and the same rules written a second time."""

from __future__ import annotations

import gzip
import json
from datetime import datetime, timedelta, timezone
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st
from made import ARRIVAL_MS, event, fields, record

from log_processing import events
from log_processing.events import BadEvent, Event, micros
from log_processing.table import event_keys, time_text
from trial import oracle

DAY_MS = 24 * 60 * 60 * 1000


def payload(*entries: Any, **changes: Any) -> bytes:
    names = {"messageType": "DATA_MESSAGE", "logGroup": "/aws/lambda/pay", "logStream": "s"}
    return gzip.compress(json.dumps({**names, "logEvents": entries, **changes}).encode())


def reason(data: bytes | dict[str, Any]) -> str:
    (found,) = events.read(record(data))
    assert isinstance(found, BadEvent), found
    assert found.data == record(data).data
    return found.reason


@pytest.mark.parametrize(
    ("data", "expected"),
    [
        (b"", events.UNPARSABLE),
        (b"[]", events.UNPARSABLE),
        (b"[" * 100_000, events.UNPARSABLE),
        (b"\x1f\x8bcut", events.UNPARSABLE),
        (payload()[:-5], events.UNPARSABLE),
        (payload() + b"more", events.UNPARSABLE),
        (gzip.compress(b"0" * (16 * 1024 * 1024 + 1)), events.UNPARSABLE),
        (payload(logEvents={}), events.UNPARSABLE),
        (payload(messageType="OTHER"), events.UNPARSABLE),
        (fields(level=None), events.UNPARSABLE),
        (fields(service=""), events.UNPARSABLE),
        (fields(message=1), events.UNPARSABLE),
        (fields(context=[]), events.UNPARSABLE),
        (fields(context={"": 1, "(empty)": 2}), events.UNPARSABLE),
        (fields(timestamp=None), events.UNDATED),
        (fields(timestamp="yesterday"), events.UNDATED),
        (fields(timestamp=True), events.UNDATED),
        (fields(timestamp="2026-02-30T00:00:00Z"), events.UNDATED),
        (fields(service="a" * 513), events.TOO_LARGE),
        (fields(level="a" * 129), events.TOO_LARGE),
        (fields(context={"a" * 65_536: 1}), events.TOO_LARGE),
    ],
)
def test_a_bad_event_has_its_reason_and_its_data(data: Any, expected: str) -> None:
    assert reason(data) == expected


@pytest.mark.parametrize(
    ("text", "utc"),
    [
        ("2026-11-23T07:15:09.123+01:00", "2026-11-23T06:15:09.123000Z"),
        ("2026-11-23 07:15:09,1234567Z", "2026-11-23T07:15:09.123456Z"),
        ("2026-11-23t07:15-0530", "2026-11-23T12:45:00.000000Z"),
        ("1969-12-31T23:59:59.999999z", "1969-12-31T23:59:59.999999Z"),
        (ARRIVAL_MS, "2026-11-23T06:15:09.123000Z"),
    ],
)
def test_a_time_may_have_many_forms(text: object, utc: str) -> None:
    assert time_text(micros(text) or 0) == utc


@pytest.mark.parametrize(
    "value", [10**18, -(10**18), "0000-01-01T00:00Z", 1.5, "2026-11-23T24:00Z"]
)
def test_some_values_are_no_time(value: object) -> None:
    assert micros(value) is None


def test_an_event_keeps_its_context_as_texts() -> None:
    found = event(context={"id": 4711, "user": "ü\ud800", "": None})
    assert found.context == {"id": "4711", "user": "ü?", "(empty)": "null"}


@pytest.mark.parametrize("level", ["ERROR", "error", "Fatal", "CRITICAL"])
def test_severe_levels_raise_an_alert(level: str) -> None:
    assert event(level=level).is_severe
    assert not event(level="WARN").is_severe


@pytest.mark.parametrize(
    ("message", "level"),
    [
        ("an error in a sentence", "INFO"),
        ("x" * 256 + " ERROR", "INFO"),
        ("2026 FATAL out of memory", "FATAL"),
        ("level=critical now", "CRITICAL"),
        ('"level": "warn"', "WARN"),
        ("[debug] x", "DEBUG"),
    ],
)
def test_the_message_of_a_log_event_has_a_level(message: str, level: str) -> None:
    entry = {"id": "7", "timestamp": ARRIVAL_MS, "message": message}
    (found,) = events.read(record(payload(entry)))
    assert isinstance(found, Event)
    assert (found.level.upper(), found.service) == (level, "/aws/lambda/pay")
    assert found.message == message
    assert found.context == {"logStream": "s", "id": "7"}


def test_a_log_event_may_be_an_event_of_ours_and_its_number_counts_bad_ones() -> None:
    ours = {"message": json.dumps(fields(timestamp=None, service=None)), "timestamp": ARRIVAL_MS}
    bad, good = events.read(record(payload({"message": "without a time"}, ours)))
    assert isinstance(bad, BadEvent)
    assert (bad.reason, json.loads(bad.data)) == (events.UNDATED, {"message": "without a time"})
    assert isinstance(good, Event)
    assert (good.index, good.service, good.message) == (1, "/aws/lambda/pay", "m")


def test_a_control_message_has_no_events() -> None:
    assert not list(events.read(record(payload(messageType="CONTROL_MESSAGE"))))


def test_age_is_counted_from_the_arrival() -> None:
    old, late = event(timestamp=ARRIVAL_MS - 30 * DAY_MS), event(timestamp=ARRIVAL_MS + DAY_MS + 1)
    assert (events.why_not_stored(old, 30) or "")[0] == events.EXPIRED
    assert events.why_not_stored(old, 31) is None
    assert (events.why_not_stored(late, 30) or "")[0] == events.FROM_THE_FUTURE


JSON: st.SearchStrategy[Any] = (
    st.integers() | st.text(max_size=3) | st.sampled_from([None, True, [1], {}, {"a": []}])
)
OFFSETS = st.integers(-1439, 1439).map(lambda it: timezone(timedelta(minutes=it)))
MOMENTS = st.builds(datetime.fromtimestamp, st.floats(86_400, 4e9), OFFSETS)
TIMES = MOMENTS.map(datetime.isoformat)
EVENTS = st.fixed_dictionaries(
    {},
    optional={
        "timestamp": TIMES | st.integers(-(10**13), 10**13) | st.text(alphabet="ab"),
        "level": st.sampled_from(["INFO", "Error", "FATAL", "critical", ""]) | JSON,
        "service": st.text(min_size=1, max_size=4) | JSON,
        "message": st.text(max_size=4) | JSON,
        "context": st.dictionaries(st.text(min_size=1, max_size=2), st.text(max_size=2)) | JSON,
    },
)
ENTRIES = st.fixed_dictionaries(
    {"message": st.sampled_from(["INFO m", "ERROR m", "FATAL m"])},
    optional={"timestamp": st.integers(0, 10**13)},
)
PAYLOADS = st.lists(ENTRIES).map(lambda it: payload(*it))


@given(st.binary(max_size=64) | JSON.map(lambda it: json.dumps(it).encode()))
def test_no_record_raises_an_error(data: bytes) -> None:
    for raw in (data, gzip.compress(data), payload(data.hex(), json.loads("[1]"), {"message": 1})):
        assert list(events.read(record(raw))) == list(events.read(record(raw)))


@given(EVENTS.map(lambda it: json.dumps(it).encode()) | PAYLOADS)
def test_the_rules_written_a_second_time_say_the_same(data: bytes) -> None:
    found = list(events.read(record(data)))
    place = "logs#shardId-000000000000#49661#0"
    for index, (one, facts) in enumerate(zip(found, oracle.facts_of(data), strict=True)):
        if isinstance(one, BadEvent):
            # The oracle does not know the rule about names that become one.
            assert facts is None or "names that would be stored as one name" in one.detail
            continue
        assert facts is not None
        assert one.is_severe == (facts[1].upper() in oracle.ALERTING)
        assert event_keys(one) == oracle.key(facts, f"{place}#{index}")
