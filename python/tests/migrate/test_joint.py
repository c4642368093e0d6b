"""What the records around a position prove."""

from __future__ import annotations

from datetime import timedelta

import pytest

from python.tests.migrate.streams import NOW, TIMES, after, aggregate, shard
from spark_kinesis._offsets import Progress
from spark_kinesis.tools.facts.records import FirstRecords, StreamRecord
from spark_kinesis.tools.handover.plan import ShardStart, plan_start
from spark_kinesis.tools.handover.positions import TRIM_HORIZON, Stop, StopKind, StreamStops
from spark_kinesis.tools.handover.takeover import Joint, Verdict, joined, newest


def record(number: int, data: bytes = b"plain") -> StreamRecord:
    arrived = NOW - timedelta(seconds=1000 - number)
    return StreamRecord(sequence_number=number, arrived=arrived, key="k", data=data)


def found(*records: StreamRecord, is_complete: bool = True) -> FirstRecords:
    return FirstRecords(records=records, is_complete=is_complete)


def start(stop: Stop) -> ShardStart:
    one = shard(0, is_open=False)
    (made,) = plan_start("orders", [one], {one.id: stop}, TIMES).starts
    return made


def place(found: Joint) -> str:
    return found.offset.text.partition("@")[0]


def test_the_query_continues_after_a_record_that_is_there() -> None:
    got = joined(start(after(50)), found(record(50), record(60)))
    assert (got.verdict, place(got), got.first) == (Verdict.CONTINUES, "50", record(60))
    assert got.offset.complete_as_of == record(50).arrived


def test_no_record_may_have_arrived_since() -> None:
    got = joined(start(after(50)), found(record(50)))
    assert (got.verdict, got.first) == (Verdict.CONTINUES, None)


@pytest.mark.parametrize("records", [(), (record(60),)])
def test_records_after_one_that_is_gone_may_be_lost(records: tuple[StreamRecord, ...]) -> None:
    got = joined(start(after(50)), found(*records))
    assert (got.verdict, place(got)) == (Verdict.LOST, "50")
    assert got.offset.complete_as_of is None


def test_the_number_at_which_a_shard_begins_needs_no_record() -> None:
    assert joined(start(after(0)), found(record(10))).verdict is Verdict.BEGINS
    at = Stop(kind=StopKind.AT, sequence_number=0)
    assert joined(start(at), found(record(10))).verdict is Verdict.BEGINS


def test_a_search_without_an_answer_proves_nothing() -> None:
    nothing = found(is_complete=False)
    assert joined(start(after(50)), nothing).verdict is Verdict.UNPROVEN
    at = Stop(kind=StopKind.AT, sequence_number=50)
    assert joined(start(at), nothing).verdict is Verdict.UNPROVEN
    assert joined(start(TRIM_HORIZON), nothing).verdict is Verdict.BEGINS


def test_a_start_at_a_record_needs_it() -> None:
    at = start(Stop(kind=StopKind.AT, sequence_number=50))
    got = joined(at, found(record(50)))
    assert (got.verdict, place(got)) == (Verdict.BEGINS, "from:50")
    assert got.offset.complete_as_of == record(50).arrived
    assert joined(at, found(record(60))).verdict is Verdict.LOST


@pytest.mark.parametrize(("hours", "verdict"), [(23, Verdict.BEGINS), (25, Verdict.LOST)])
def test_a_time_before_the_retention_period_is_a_loss(hours: int, verdict: Verdict) -> None:
    at = Stop(kind=StopKind.AT_TIME, time=NOW - timedelta(hours=hours))
    assert joined(start(at), found(record(50))).verdict is verdict


def test_the_newest_record_is_a_loss_unless_a_time_replaces_it() -> None:
    latest, old = Stop(kind=StopKind.LATEST), found(record(50))
    assert newest(start(latest), found(), old).verdict is Verdict.SKIPS
    time = NOW - timedelta(hours=1)
    (moved,) = StreamStops(stream="orders", stops={"a": latest}).with_latest_at(time).stops.values()
    assert moved == Stop(kind=StopKind.AT_TIME, time=time)
    assert joined(start(moved), found()).verdict is Verdict.BEGINS
    same = StreamStops(stream="orders", stops={"a": latest, "b": after(50)})
    assert same.with_latest_at(None) == same
    assert same.with_latest_at(time).stops["b"] == after(50)


def test_a_shard_that_never_received_a_record_begins_at_the_newest_one() -> None:
    latest, new = start(Stop(kind=StopKind.LATEST)), record(1000)  # it arrives now
    assert new.arrived == NOW
    assert newest(latest, found(), found()).verdict is Verdict.BEGINS
    got = newest(latest, found(new), found(new))
    assert (got.verdict, got.first, got.loss) == (Verdict.BEGINS, new, None)


def test_the_newest_record_skips_an_old_one() -> None:
    latest, old, new = start(Stop(kind=StopKind.LATEST)), record(999), record(1001)
    got = newest(latest, found(new), found(old))
    assert (got.verdict, got.first) == (Verdict.SKIPS, new)
    assert f"the first of them, {old.sequence_number}, arrived" in str(got.loss)


def test_a_search_without_an_answer_may_have_missed_records_before_the_newest_one() -> None:
    latest = start(Stop(kind=StopKind.LATEST))
    got = newest(latest, found(), found(is_complete=False))
    assert got.verdict is Verdict.SKIPS
    assert "ended before it found one" in str(got.loss)


def test_a_shard_without_a_position_may_begin_at_the_newest_record() -> None:
    named, other = shard(0, is_open=False), shard(1)
    stops, others = {named.id: after(50)}, Stop(kind=StopKind.LATEST)
    _, begun = plan_start("orders", [named, other], stops, TIMES, others).starts
    assert joined(begun, found()).verdict is Verdict.BEGINS


@pytest.mark.parametrize(
    ("sub", "verdict", "position", "again"),
    [
        (0, Verdict.REPEATS, "from:50", 1),
        (2, Verdict.REPEATS, "from:50", 3),
        (3, Verdict.CONTINUES, "50", 0),
        (9, Verdict.CONTINUES, "50", 0),
        (None, Verdict.CONTINUES, "50", 0),
    ],
)
def test_an_aggregate_comes_again_unless_it_was_read_completely(
    sub: int | None, verdict: Verdict, position: str, again: int
) -> None:
    packed = record(50, aggregate(4))
    got = joined(start(after(50, sub)), found(packed, record(60)))
    assert (got.verdict, place(got), got.again) == (verdict, position, again)
    assert got.first == (packed if again else record(60))


def test_a_plain_record_has_one_user_record() -> None:
    got = joined(start(after(50, 0)), found(record(50)))
    assert got.verdict is Verdict.CONTINUES


def test_the_first_read_is_of_the_offset() -> None:
    assert start(TRIM_HORIZON).offset.progress is Progress.TRIM_HORIZON
