"""How far a shard is behind."""

from __future__ import annotations

from collections import deque
from datetime import timedelta

import pytest
from hypothesis import given
from hypothesis import strategies as st

from spark_kinesis._offsets import Progress, ShardOffset
from spark_kinesis.tools.facts.records import WRITE_RECORDS
from spark_kinesis.tools.top.probes import Probed, Reading, rate

from .given import NOW, after, ago, reading

HERE = after(5, ago(100))
START = ShardOffset(progress=Progress.TRIM_HORIZON)


Shard = tuple[ShardOffset | None, Probed]


def facts(position: ShardOffset | None, *readings: Reading, tip: tuple[Reading, ...] = ()) -> Shard:
    return position, Probed(backlog=deque(readings), tip=deque(tip))


def seconds(it: Shard) -> float | None:
    position, probed = it
    found = probed.lag(position, NOW)
    return None if found is None else found.total_seconds()


def unread(it: Shard, late: timedelta | None = None) -> tuple[int | None, bool]:
    position, probed = it
    return probed.unread(position, probed.lag(position, NOW) if late is None else late)


@pytest.mark.parametrize(
    ("it", "expected"),
    [
        (facts(None), None),
        (facts(START), None),
        (facts(ShardOffset(progress=Progress.FINISHED)), 0),
        (facts(HERE), 100),
        # A record that arrived 40 s ago is the first one that is not read.
        (facts(HERE, reading(HERE, arrived=(40, 30))), 40),
        (facts(START, reading(START, arrived=(40, 30))), 40),
        # There is none.
        (facts(HERE, reading(HERE)), 0),
        # The query has moved on since.
        (facts(after(9, ago(20)), reading(HERE, arrived=(40,))), 20),
        (facts(after(9), reading(HERE, arrived=(40,))), 40),
        (facts(after(9), reading(HERE, at=ago(7))), 7),
        # It was rewound.
        (facts(after(4, ago(300)), reading(HERE, arrived=(40,))), 300),
        (facts(START, reading(HERE, arrived=(40,))), None),
        # An empty page in the middle of a shard.
        (facts(HERE, reading(HERE, behind=60)), 60),
        (facts(ShardOffset(progress=Progress.AT, time="2026-11-23T11:59:00Z")), 60),
        (facts(ShardOffset(progress=Progress.AT, time="2026-11-23T11:59:00.5Z")), 59.5),
        (
            facts(ShardOffset(progress=Progress.AT, time="2026-11-23T11:59:00.123456789Z")),
            59.876544,
        ),
        (facts(ShardOffset(progress=Progress.AT, time="soon")), None),
        (facts(after(5, NOW + timedelta(seconds=9))), 0),
    ],
)
def test_the_lag_is_the_age_of_the_first_unread_record(it: Shard, expected: float | None) -> None:
    assert seconds(it) == expected


def test_unread_records_are_counted_if_a_probe_returned_all() -> None:
    whole = facts(HERE, reading(HERE, arrived=(40, 30, 20)))
    assert unread(whole) == (3, True)
    nothing = facts(HERE, reading(HERE))
    assert unread(nothing) == (0, True)


def test_otherwise_they_are_estimated_by_the_rates_at_both_ends() -> None:
    tip = ShardOffset(progress=Progress.AT, time=ago(10).isoformat())
    it = facts(
        HERE,
        reading(HERE, arrived=(100, 95, 90), behind=90),  # 3 in 10 s
        tip=(reading(tip, arrived=(8, 5, 3, 1, 0.5)),),  # 5 in 10 s
    )
    assert it[1].arriving == pytest.approx(0.5)
    assert unread(it, timedelta(seconds=100)) == (40, False)


def test_without_rates_the_number_is_unknown() -> None:
    assert unread(facts(HERE), timedelta(seconds=100)) == (None, False)
    assert unread(facts(None)) == (None, False)
    assert unread(facts(HERE), timedelta()) == (0, True)


def test_without_a_start_the_first_record_is_one() -> None:
    assert rate([reading(START, arrived=(100, 95, 90), behind=90)]) == pytest.approx(0.2)
    assert rate([reading(START, arrived=(100,), behind=90)]) is None
    assert rate([]) is None


@given(st.lists(st.floats(0.001, 99), min_size=1, max_size=100), st.booleans())
def test_a_rate_is_never_negative_and_never_more_than_a_shard_accepts(
    ages: list[float], is_whole: bool
) -> None:
    arrived = tuple(sorted(ages, reverse=True))
    found = rate([reading(HERE, arrived=arrived, behind=0 if is_whole else 1)])
    assert found is not None
    assert 0 < found <= WRITE_RECORDS


@given(st.integers(2, 100), st.integers(1, 50))
def test_even_arrivals_have_their_rate(count: int, per_second: int) -> None:
    """Whatever the number of records that a probe returns."""
    arrived = tuple(100 - it / per_second for it in range(1, count + 1) if it / per_second < 100)
    found = rate([reading(HERE, arrived=arrived, behind=1)])
    assert found == pytest.approx(per_second, rel=0.01)
