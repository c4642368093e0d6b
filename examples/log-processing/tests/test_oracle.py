"""The judge of the trial notices each kind of fault."""

from __future__ import annotations

import json
from datetime import datetime, timezone
from typing import Any

import pytest

from spark_kinesis.local import Record
from trial.__main__ import percentiles
from trial.oracle import compare, expected, facts_of
from trial.run import UNDATED, payload
from trial.services import TrialError

SHARD = "shardId-000000000000"


def record(number: int, data: bytes | str) -> Record:
    raw = data.encode() if isinstance(data, str) else data
    now = datetime.now(timezone.utc)
    return Record(
        shard_id=SHARD, sequence_number=str(number), partition_key="k", data=raw, arrival=now
    )


def event(level: str) -> str:
    fields = {"timestamp": "2026-11-23T07:15:09Z", "service": "a", "message": "m", "level": level}
    return json.dumps(fields)


SHOULD = expected([record(1, event("INFO")), record(2, event("error")), record(3, "{}")], "logs")
ITEMS, ALERTS, KEPT = [*SHOULD.items], [*SHOULD.alerts], [*SHOULD.bad]
OTHER = (SHARD, "9", 0)


def test_what_is_as_it_should_be_is_even() -> None:
    balance = compare(SHOULD, ITEMS, [*ALERTS, *ALERTS], KEPT)
    assert balance.is_even
    assert str(balance) == (
        "demo-logs: put=2 stored=2 missing=0 twice=0 errors=1 published>=1 bad=1 kept=1"
    )


@pytest.mark.parametrize(
    ("items", "alerts", "kept", "fault"),
    [
        (ITEMS[:1], ALERTS, KEPT, {"missing": 1, "stored": 1}),
        ([*ITEMS, ("other", "key")], ALERTS, KEPT, {"twice": 1, "stored": 3}),
        (ITEMS, [], KEPT, {"published": 0}),
        (ITEMS, [*ALERTS, OTHER], KEPT, {"strange": 1}),
        (ITEMS, ALERTS, [], {"kept": 0}),
        (ITEMS, ALERTS, KEPT * 2, {"kept": 0, "strange": 1}),
        (ITEMS, ALERTS, [*KEPT, OTHER], {"strange": 1}),
    ],
)
def test_each_fault_is_noticed(items: Any, alerts: Any, kept: Any, fault: dict[str, int]) -> None:
    balance = compare(SHOULD, items, alerts, kept)
    assert not balance.is_even
    assert {name: getattr(balance, name) for name in fault} == fault


def test_an_empty_stream_proves_nothing() -> None:
    assert not compare(expected([], "logs"), [], [], []).is_even


def test_the_trial_writes_events_of_all_kinds() -> None:
    facts = facts_of(payload())
    assert [it and it[1] for it in facts] == ["INFO", "warn", "FATAL", None, "INFO"]
    assert facts_of(UNDATED.encode()) == [None]


def test_the_times_of_no_event_are_no_times() -> None:
    item = {"arrival": {"N": "1000"}, "storedAt": {"N": "1750"}}
    assert percentiles([item], [1000, 1001]) == "p50=0.75 s p99=0.75 s"
    with pytest.raises(TrialError, match="No event arrived"):
        percentiles([item], [1001, 2000])
