"""What the facts of a checkpoint mean for the next start."""

from __future__ import annotations

import json
from dataclasses import replace
from datetime import datetime, timedelta, timezone
from pathlib import Path
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from python.tests.doctor.services import service
from spark_kinesis._offsets import Progress, ShardOffset, SourceOffset, StreamOffset, encode
from spark_kinesis.tools.cli import Connection
from spark_kinesis.tools.examination import Finding, State
from spark_kinesis.tools.examination.checkpoint import (
    MOST_PROBES,
    StreamFacts,
    checkpoint_check,
    log_findings,
    look_at,
    stream_findings,
)
from spark_kinesis.tools.examination.finding import Setup
from spark_kinesis.tools.facts.checkpoints import Checkpoint, next_positions
from spark_kinesis.tools.facts.files import open_files
from spark_kinesis.tools.facts.lags import Probe
from spark_kinesis.tools.facts.streams import StreamSummary

NOW = datetime(2026, 1, 2, 12, tzinfo=timezone.utc)
CREATED = datetime(2026, 1, 1, tzinfo=timezone.utc)
HOUR, DAY = timedelta(hours=1), timedelta(days=1)
ARN = "arn:aws:kinesis:eu-west-1:123456789012:stream/orders"
SUMMARY = StreamSummary(
    name="orders",
    arn=ARN,
    status="ACTIVE",
    created=CREATED,
    mode="PROVISIONED",
    retention=DAY,
    open_shards=1,
    key=None,
)
READ = ShardOffset(progress=Progress.AFTER, sequence_number=7, complete_as_of=NOW - HOUR)
AT_TIP = Probe(behind=timedelta(), arrived=None)


Fact = tuple[ShardOffset, Probe | Exception | None]
"""How far a shard was read, and what a read after that found."""


def facts(*shards: Fact, listed: bool = True) -> StreamFacts:
    """A stream with the shards `a`, `b` and so on."""
    known = dict(zip("abcdefgh", shards, strict=False))
    return StreamFacts(
        name="orders",
        summary=SUMMARY,
        offset=StreamOffset(
            created="2026-01-01T00:00:00Z", shards={it: offset for it, (offset, _) in known.items()}
        ),
        listed=known if listed else (),
        probes={it: probe for it, (_, probe) in known.items() if probe is not None},
    )


def of(found: StreamFacts, subject: str) -> Finding:
    return next(it for it in stream_findings(found, NOW) if it.subject == subject)


def loss(*shards: Fact) -> Finding:
    return of(facts(*shards), "loss")


def test_a_restart_within_the_retention_period_loses_nothing() -> None:
    found = loss((READ, AT_TIP))
    assert found.state is State.OK
    assert "before 2026-01-03 11:00:00 UTC loses nothing: 23 h are left" in found.seen


@pytest.mark.parametrize(
    ("age", "state"),
    [
        (timedelta(hours=21), State.OK),
        (timedelta(hours=22), State.PROBLEM),  # nearly over
        (DAY, State.PROBLEM),
    ],
)
def test_time_runs_out(age: timedelta, state: State) -> None:
    found = loss((READ, AT_TIP), (replace(READ, complete_as_of=NOW - age), AT_TIP))
    assert found.state is state
    assert ("KINESIS_DATA_LOSS" in found.seen) == (age >= DAY)


def test_an_expired_shard_that_is_not_finished_is_a_loss() -> None:
    found = of(facts((READ, None), listed=False), "loss")
    assert (found.state, "records of a of orders" in found.seen) == (State.PROBLEM, True)
    finished = ShardOffset(progress=Progress.FINISHED)
    assert of(facts((finished, None), listed=False), "loss").state is State.OK


def test_a_position_without_a_time_is_judged_by_its_next_record() -> None:
    untimed = replace(READ, complete_as_of=None)
    assert loss((untimed, AT_TIP)).state is State.UNKNOWN
    old = replace(AT_TIP, arrived=NOW - 23 * HOUR, behind=23 * HOUR)
    assert "1 h are left" in loss((untimed, old)).seen


def test_a_start_is_judged_by_its_time() -> None:
    assert loss((ShardOffset(progress=Progress.TRIM_HORIZON), AT_TIP)).state is State.OK
    early = ShardOffset(progress=Progress.AT, time="2025-12-01T00:00:00Z")
    assert loss((early, AT_TIP)).state is State.PROBLEM


@given(st.lists(st.integers(0, 48), min_size=1, max_size=5))
def test_the_oldest_shard_decides(ages: list[int]) -> None:
    found = loss(*((replace(READ, complete_as_of=NOW - it * HOUR), AT_TIP) for it in ages))
    assert ("KINESIS_DATA_LOSS" in found.seen) == (max(ages) >= 24)
    assert (found.state is State.OK) == (24 - max(ages) > 2.4)


def test_the_lag_is_that_of_the_last_shard() -> None:
    behind = replace(AT_TIP, behind=3 * HOUR, arrived=NOW - 3 * HOUR)
    less = replace(AT_TIP, behind=HOUR, arrived=NOW - HOUR)
    waiting = replace(READ, waits_for=("b",))
    found = of(facts((READ, less), (READ, behind), (waiting, None)), "lag")
    assert found.seen == "orders is at most 3 h behind, in b. 1 shards were not read"
    # The record that the probe read counts, too.
    only = replace(AT_TIP, arrived=NOW - 3 * HOUR)
    assert "3 h behind, in b" in of(facts((READ, AT_TIP), (READ, only)), "lag").seen


def test_a_lag_that_cannot_be_read_is_unknown() -> None:
    found = of(facts((READ, ValueError("Throttled"))), "lag")
    assert (found.state, "Throttled" in found.seen) == (State.UNKNOWN, True)


def test_a_stream_that_was_made_again_is_a_problem() -> None:
    again = replace(facts((READ, AT_TIP)), summary=replace(SUMMARY, created=CREATED + HOUR))
    (found,) = stream_findings(again, NOW)
    assert found.state is State.PROBLEM
    assert "deleted and created again" in found.seen


def log(folder: Path, *ends: str, completed: int, version: str = "v1") -> Checkpoint:
    """A checkpoint whose micro-batch 8 was planned an hour ago."""
    millis = int((NOW - HOUR).timestamp() * 1000)
    for name in ("offsets", "commits"):
        (folder / name).mkdir()
    for number in {8, completed}:
        lines = [version, json.dumps({"batchTimestampMs": millis}), *ends]
        (folder / "offsets" / str(number)).write_text("\n".join(lines), encoding="utf-8")
    (folder / "commits" / str(completed)).write_text("v1", encoding="utf-8")
    return Checkpoint(open_files(str(folder)))


def end(number: int = 7) -> str:
    shards = {"a": replace(READ, sequence_number=number)}
    offset = StreamOffset(created="2026-01-01T00:00:00Z", shards=shards)
    return encode(SourceOffset(streams={ARN: offset}))


@pytest.mark.parametrize(
    ("stream", "state"),
    [("orders", State.OK), (ARN, State.OK), ("refunds", State.PROBLEM)],
)
def test_a_checkpoint_has_an_owner(stream: str, state: State, tmp_path: Path) -> None:
    found = log(tmp_path, end(), completed=8)
    readable, owner = log_findings(found, next_positions(found), stream, NOW)
    assert (owner.subject, owner.state) == ("streams", state)
    assert ARN in owner.seen
    assert readable.seen.endswith("is completed, and the query continues after it")


def test_a_batch_that_was_not_completed_runs_again(tmp_path: Path) -> None:
    found = log(tmp_path, end(), completed=7)
    (readable,) = log_findings(found, next_positions(found), None, NOW)
    text = "micro-batch 8 last, 1 h ago. It is not completed, and runs again"
    assert readable.seen.endswith(text)


def test_a_checkpoint_whose_query_has_not_started_is_no_problem(tmp_path: Path) -> None:
    folder = tmp_path / "sources" / "0"
    folder.mkdir(parents=True)
    (folder / "initial-offset.json").write_text(end(), encoding="utf-8")
    found = Checkpoint(open_files(str(tmp_path)))
    readable, owner = log_findings(found, next_positions(found), "orders", NOW)
    assert (readable.state, owner.state) == (State.OK, State.OK)
    assert readable.seen.endswith("The query has not started yet")


def stub(*names: str, asked: list[str], field: str = "ShardId") -> Any:
    """A client of the stream `orders` that keeps a field of each request for an iterator."""

    def iterator(request: dict[str, str]) -> dict[str, str]:
        asked.append(request[field])
        return {"ShardIterator": "i"}

    return service(
        "kinesis",
        describe_stream_summary={
            "StreamDescriptionSummary": {
                "StreamName": "orders",
                "StreamARN": ARN,
                "StreamStatus": "ACTIVE",
                "StreamCreationTimestamp": CREATED,
                "RetentionPeriodHours": 24,
                "OpenShardCount": 1,
                "EnhancedMonitoring": [],
            },
            "ResponseMetadata": {"HTTPHeaders": {}},
        },
        list_shards={
            "Shards": [
                {
                    "ShardId": name,
                    "HashKeyRange": {"StartingHashKey": "0", "EndingHashKey": "1"},
                    "SequenceNumberRange": {"StartingSequenceNumber": "1"},
                }
                for name in names
            ]
        },
        get_shard_iterator=iterator,
        get_records={"Records": [], "MillisBehindLatest": 60_000},
    )


def looked_at(
    monkeypatch: pytest.MonkeyPatch, asked: list[str], shards: dict[str, ShardOffset]
) -> StreamFacts:
    kinesis = stub(*shards, asked=asked)
    monkeypatch.setattr(Setup, "kinesis", lambda *_: kinesis)
    setup = Setup(connection=Connection("doctor"))
    offset = StreamOffset(created="2026-01-01T00:00:00Z", shards=shards)
    return look_at(setup, "orders", ARN, offset)


def test_finished_shards_take_no_read_from_the_others(monkeypatch: pytest.MonkeyPatch) -> None:
    finished = ShardOffset(progress=Progress.FINISHED)
    shards = {f"closed-{number}": finished for number in range(MOST_PROBES)} | {"open": READ}
    asked: list[str] = []
    found = looked_at(monkeypatch, asked, shards)
    assert asked == ["open"]
    assert of(found, "lag").seen == "orders is at most 1 min behind, in open"


def test_at_most_a_hundred_shards_are_read_the_oldest_first(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    shards = {f"s-{n}": replace(READ, complete_as_of=NOW - n * HOUR) for n in range(102)}
    found = looked_at(monkeypatch, [], shards)
    assert {*shards} - {*found.probes} == {"s-0", "s-1"}


def test_a_child_is_read_after_its_parents(monkeypatch: pytest.MonkeyPatch) -> None:
    child = ShardOffset(progress=Progress.TRIM_HORIZON, waits_for=("parent",))
    asked: list[str] = []
    parent = ShardOffset(progress=Progress.FINISHED)
    looked_at(monkeypatch, asked, {"parent": parent, "child": child})
    looked_at(monkeypatch, asked, {"parent": READ, "child": child})
    assert asked == ["child", "parent"]


def test_a_stream_whose_shards_are_all_finished_is_read_to_its_end() -> None:
    found = of(facts((ShardOffset(progress=Progress.FINISHED), None)), "lag")
    assert (found.state, found.seen) == (State.OK, "orders is read to its end")


@pytest.mark.parametrize(("version", "names"), [("v1", ("0", "1")), ("v2", ("orders", "late"))])
def test_each_source_of_a_stream_has_its_own_findings(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, version: str, names: tuple[str, str]
) -> None:
    ends = [end(7), end(9)]
    if version == "v2":
        ends = [f"{name}:{it}" for name, it in zip(names, ends, strict=True)]
    log(tmp_path, *ends, completed=8, version=version)
    asked: list[str] = []

    kinesis = stub("a", asked=asked, field="StartingSequenceNumber")
    monkeypatch.setattr(Setup, "kinesis", lambda *_: kinesis)
    setup = Setup(connection=Connection("doctor"), checkpoint=str(tmp_path))
    owned = [it.seen for it in checkpoint_check(setup) if it.subject in ("lag", "loss")]
    assert asked == ["7", "9"]
    for name in names:
        assert sum(f"orders (source {name})" in seen for seen in owned) == 2


def test_streams_of_two_accounts_with_one_name_have_their_arns(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    other = ARN.replace("123456789012", "999999999999")
    one = StreamOffset(created="2026-01-01T00:00:00Z", shards={"a": READ})
    log(tmp_path, encode(SourceOffset(streams={ARN: one, other: one})), completed=8)
    kinesis = stub("a", asked=[])
    monkeypatch.setattr(Setup, "kinesis", lambda *_: kinesis)
    setup = Setup(connection=Connection("doctor"), checkpoint=str(tmp_path))
    lags = [it.seen for it in checkpoint_check(setup) if it.subject == "lag"]
    assert [it.partition(" is ")[0] for it in lags] == [ARN, other]
