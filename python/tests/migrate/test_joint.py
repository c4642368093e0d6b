"""What the records around a position prove."""

from __future__ import annotations

from datetime import timedelta

import pytest

from python.tests.migrate.streams import NOW, TIMES, TRIM_HORIZON, after, aggregate, at, shard
from spark_kinesis._offsets import Progress
from spark_kinesis.tools.facts.records import Around, StreamRecord
from spark_kinesis.tools.handover.positions import Stop
from spark_kinesis.tools.handover.takeover import Joint, joined, plan_start

AT = Stop(progress=Progress.FROM, sequence_number=50)


def record(number: int, data: bytes = b"plain") -> StreamRecord:
    arrived = NOW - timedelta(seconds=1000 - number)
    return StreamRecord(sequence_number=number, arrived=arrived, data=data)


def met(stop: Stop, found: Around) -> Joint:
    one = shard(0, is_open=False)
    (made,) = plan_start("orders", [one], {one.id: stop}, TIMES)
    return joined(made, found, TIMES)


def place(found: Joint) -> str:
    return found.offset.text.partition("@")[0]


def test_the_query_continues_after_a_record_that_is_there() -> None:
    got = met(after(50), Around(named=record(50), first=record(60)))
    assert (place(got), got.loss) == ("50", None)
    assert got.words.startswith("continues; it stopped 50; first record 60, which arrived at 20")
    assert got.offset.complete_as_of == record(50).arrived


def test_no_record_may_have_arrived_since() -> None:
    got = met(after(50), Around(named=record(50)))
    assert (got.loss, got.words) == (None, "continues; it stopped 50; first record none yet")


@pytest.mark.parametrize("stop", [after(50), AT])
@pytest.mark.parametrize("first", [None, record(60)])
def test_records_after_one_that_is_gone_may_be_lost(stop: Stop, first: StreamRecord | None) -> None:
    got = met(stop, Around(is_missing=True, first=first))
    assert got.loss == "record 50 is gone, and unread records after it may have expired"
    assert got.offset.complete_as_of is None


def test_a_search_without_an_answer_proves_nothing() -> None:
    for stop in (after(50), AT):
        got = met(stop, Around(is_missing=True, is_complete=False))
        assert "no record was found from 50 on before the search ended" in str(got.loss)
    assert met(TRIM_HORIZON, Around(is_complete=False)).loss is None


def test_a_start_at_a_record_needs_it() -> None:
    got = met(AT, Around(named=record(50), first=record(50)))
    assert (place(got), got.loss) == ("from:50", None)
    assert got.words.startswith("begins; it stopped from:50; first record 50,")
    assert got.offset.complete_as_of == record(50).arrived


@pytest.mark.parametrize(("hours", "is_lost"), [(23, False), (25, True)])
def test_a_time_before_the_retention_period_is_a_loss(hours: int, *, is_lost: bool) -> None:
    got = met(at(hours), Around(first=record(50)))
    assert (got.loss is not None) is is_lost


@pytest.mark.parametrize(
    ("sub", "position", "again"),
    [(0, "from:50", 1), (2, "from:50", 3), (3, "50", 0), (9, "50", 0), (None, "50", 0)],
)
def test_an_aggregate_comes_again_unless_it_was_read_completely(
    sub: int | None, position: str, again: int
) -> None:
    packed = record(50, aggregate(4))
    got = met(after(50, sub), Around(named=packed, first=record(60)))
    assert (place(got), got.again) == (position, again)
    assert got.found.first == (packed if again else record(60))
    assert (f"repeats {again} user records" in got.words) == bool(again)


def test_a_plain_record_has_one_user_record() -> None:
    got = met(after(50, 0), Around(named=record(50)))
    assert (place(got), got.again) == ("50", 0)
