"""What the facts of a checkpoint mean for the next start."""

from __future__ import annotations

import json
from dataclasses import replace
from datetime import datetime, timedelta, timezone
from pathlib import Path
from threading import Barrier
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
    ShardFact,
    StreamFacts,
    checkpoint_check,
    log_findings,
    look_at,
    stream_findings,
)
from spark_kinesis.tools.examination.setup import Setup
from spark_kinesis.tools.facts.checkpoints import Checkpoint, next_positions
from spark_kinesis.tools.facts.files import open_files
from spark_kinesis.tools.facts.lags import Probe
from spark_kinesis.tools.facts.streams import StreamShard, StreamSummary

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
    consumers=0,
    key=None,
    shard_metrics=(),
)
READ = ShardOffset(progress=Progress.AFTER, sequence_number=7, complete_as_of=NOW - HOUR)
AT_TIP = Probe(
    at=NOW,
    position=READ,
    behind=timedelta(),
    arrived=None,
    sequence_number=None,
    is_end=False,
)


def shard(name: str, *parents: str) -> StreamShard:
    return StreamShard(id=name, parents=parents, first_key=0, last_key=1, starting=1, ending=None)


def facts(*shards: ShardFact, listed: tuple[StreamShard, ...] | None = None) -> StreamFacts:
    known = {it.id: it.offset for it in shards}
    return StreamFacts(
        name="orders",
        summary=SUMMARY,
        offset=StreamOffset(created="2026-01-01T00:00:00Z", shards=known),
        shards=shards,
        listed=listed if listed is not None else tuple(map(shard, known)),
    )


def fact(offset: ShardOffset = READ, probe: Probe | None = AT_TIP, name: str = "a") -> ShardFact:
    return ShardFact(id=name, offset=offset, is_listed=True, probe=probe)


def of(found: StreamFacts, subject: str) -> Finding | None:
    return next((it for it in stream_findings(found, NOW) if it.subject == subject), None)


def loss(*shards: ShardFact) -> Finding:
    found = of(facts(*shards), "loss")
    assert found is not None
    return found


def test_a_restart_within_the_retention_period_loses_nothing() -> None:
    found = loss(fact())
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
    found = loss(fact(), fact(replace(READ, complete_as_of=NOW - age), name="b"))
    assert found.state is state
    assert ("KINESIS_DATA_LOSS" in found.seen) == (age >= DAY)


def test_an_expired_shard_that_is_not_finished_is_a_loss() -> None:
    gone = replace(fact(), is_listed=False, probe=None)
    assert loss(gone).state is State.PROBLEM
    assert "Kinesis no longer has it" in loss(gone).details[0]
    finished = replace(gone, offset=ShardOffset(progress=Progress.FINISHED))
    assert loss(finished, fact(name="b")).state is State.OK


def test_a_position_without_a_time_is_judged_by_its_next_record() -> None:
    untimed = replace(READ, complete_as_of=None)
    assert loss(fact(untimed)).state is State.UNKNOWN
    old = replace(AT_TIP, arrived=NOW - 23 * HOUR, behind=23 * HOUR)
    assert "1 h are left" in loss(fact(untimed, old)).seen


def test_a_start_is_judged_by_its_time() -> None:
    horizon = ShardOffset(progress=Progress.TRIM_HORIZON)
    assert loss(fact(horizon)).state is State.OK
    early = ShardOffset(progress=Progress.AT, time="2025-12-01T00:00:00Z")
    assert loss(fact(early)).state is State.PROBLEM


@given(st.lists(st.integers(0, 48), min_size=1, max_size=5))
def test_the_oldest_shard_decides(ages: list[int]) -> None:
    shards = [
        fact(replace(READ, complete_as_of=NOW - hours * HOUR), name=str(number))
        for number, hours in enumerate(ages)
    ]
    found = loss(*shards)
    assert ("KINESIS_DATA_LOSS" in found.seen) == (max(ages) >= 24)
    assert (found.state is State.OK) == (24 - max(ages) > 2.4)
    if "KINESIS_DATA_LOSS" in found.seen:
        assert len(found.details) == sum(it >= 24 for it in ages)


def test_the_lag_is_that_of_the_last_shard() -> None:
    behind = replace(AT_TIP, behind=3 * HOUR, arrived=NOW - 3 * HOUR)
    waiting = fact(replace(READ, waits_for=("b",)), None, "c")
    found = of(facts(fact(), fact(READ, behind, "b"), waiting), "lag")
    assert found is not None
    assert "at most 3 h behind, in b" in found.seen
    assert "1 of 3 shards were not read" in found.seen
    assert found.details == ("a: read to its newest record", "b: 3 h behind", "c: waits for b")


def test_the_record_that_the_probe_read_counts_towards_the_lag() -> None:
    only = replace(AT_TIP, behind=timedelta(), arrived=NOW - 3 * HOUR, records=1)
    found = of(facts(fact(), fact(READ, only, "b")), "lag")
    assert found is not None
    assert "at most 3 h behind, in b" in found.seen
    assert found.details == ("a: read to its newest record", "b: 3 h behind")


@pytest.mark.parametrize(("count", "words"), [(1, "1 record"), (2, "2 records")])
def test_records_that_arrive_at_this_moment_are_counted(count: int, words: str) -> None:
    now = replace(AT_TIP, arrived=NOW, records=1)
    found = of(facts(*(fact(READ, now, str(number)) for number in range(count))), "lag")
    assert found is not None
    assert found.seen == f"orders is read to its end, except {words}"


def test_a_lag_that_cannot_be_read_is_unknown() -> None:
    refused = ShardFact(id="a", offset=READ, is_listed=True, refusal="Throttled")
    found = of(facts(refused), "lag")
    assert found is not None
    assert (found.state, "Throttled" in found.seen) == (State.UNKNOWN, True)


def test_a_stream_that_was_made_again_is_a_problem() -> None:
    again = replace(facts(fact()), summary=replace(SUMMARY, created=CREATED + HOUR))
    (found,) = stream_findings(again, NOW)
    assert found.state is State.PROBLEM
    assert "deleted and created again" in found.seen


@pytest.mark.parametrize(
    ("listed", "unplanned"),
    [
        ((shard("a"), shard("b", "a"), shard("c", "b")), ()),  # descendants of a known shard
        ((shard("p"), shard("a", "p")), ()),  # an ancestor, which was read before
        ((shard("a"), shard("x"), shard("y", "x")), ("x", "y")),
        ((shard("a"), shard("m", "a", "x"), shard("x")), ("x",)),  # m descends from a
    ],
)
def test_shards_without_a_known_relative_are_a_problem(
    listed: tuple[StreamShard, ...], unplanned: tuple[str, ...]
) -> None:
    found = of(facts(fact(), listed=listed), "shards")
    assert (found.details if found else ()) == unplanned


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
    *_, restart, owner = log_findings(found, next_positions(found), stream, NOW)
    assert (owner.subject, owner.state) == ("streams", state)
    assert ARN in owner.seen
    assert restart.seen == "the query continues after micro-batch 8"


def test_a_batch_that_was_not_completed_runs_again(tmp_path: Path) -> None:
    found = log(tmp_path, end(), completed=7)
    first, restart = log_findings(found, next_positions(found), None, NOW)
    assert "micro-batch 8 last, 1 h ago" in first.seen
    assert restart.seen == "micro-batch 8 is not completed, and runs again"


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


def test_finished_shards_take_no_read_from_the_others() -> None:
    finished = ShardOffset(progress=Progress.FINISHED)
    shards = {f"closed-{number}": finished for number in range(MOST_PROBES)} | {"open": READ}
    offset = StreamOffset(created="2026-01-01T00:00:00Z", shards=shards)
    asked: list[str] = []
    found = look_at(stub(*shards, asked=asked), "orders", ARN, offset, lambda: NOW, lambda _: None)
    assert asked == ["open"]
    lag = of(found, "lag")
    assert lag is not None
    assert lag.seen == "orders is at most 1 min behind, in open"


def test_shards_are_read_side_by_side() -> None:
    both = Barrier(2, timeout=60)

    class Asked(list[str]):
        def append(self, shard: str, /) -> None:
            both.wait()
            super().append(shard)

    offset = StreamOffset(created="2026-01-01T00:00:00Z", shards={"a": READ, "b": READ})
    asked, said = Asked(), list[str]()
    client = stub("a", "b", asked=asked)
    found = look_at(client, "orders", ARN, offset, lambda: NOW, said.append)
    assert {it.id: it.probe is not None for it in found.shards} == {"a": True, "b": True}
    assert said == ["checkpoint: a", "checkpoint: b"]


def test_a_child_of_a_finished_shard_is_read() -> None:
    child = ShardOffset(progress=Progress.TRIM_HORIZON, waits_for=("parent",))
    shards = {"parent": ShardOffset(progress=Progress.FINISHED), "child": child}
    offset = StreamOffset(created="2026-01-01T00:00:00Z", shards=shards)
    asked: list[str] = []
    found = look_at(stub(*shards, asked=asked), "orders", ARN, offset, lambda: NOW, lambda _: None)
    assert asked == ["child"]
    lag = of(found, "lag")
    assert lag is not None
    assert lag.details == ("parent: finished", "child: 1 min behind")


def test_a_stream_whose_shards_are_all_finished_is_read_to_its_end() -> None:
    found = of(facts(fact(ShardOffset(progress=Progress.FINISHED), None)), "lag")
    assert found is not None
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
