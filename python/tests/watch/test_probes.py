"""What probes show of a shard, which shards are probed, and what it costs."""

from __future__ import annotations

from collections import deque
from datetime import datetime, timedelta
from typing import TYPE_CHECKING

import pytest
from hypothesis import given
from hypothesis import strategies as st

from spark_kinesis._offsets import Progress, ShardOffset
from spark_kinesis._watch.snapshot import Cost, ShardKey
from spark_kinesis.tools.facts.records import WRITE_RECORDS
from spark_kinesis.tools.top.probes import (
    MOST_RECORDS,
    PERIOD,
    PROBES_PER_SECOND,
    SAMPLE_BYTES,
    Probed,
    Spending,
    due,
    limit,
    rate,
)

from .given import NOW, after, ago, key, reading

if TYPE_CHECKING:
    from spark_kinesis.tools.facts.lags import Probe

HERE = after(5, ago(100))
START = ShardOffset(progress=Progress.TRIM_HORIZON)


Shard = tuple[ShardOffset | None, Probed]


def facts(position: ShardOffset | None, *readings: Probe, tip: tuple[Probe, ...] = ()) -> Shard:
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


@given(st.integers(0, 100), st.floats(0.5, 30), st.integers(1, 40))
def test_shards_are_probed_in_turn_within_the_limits(
    shards: int, interval: float, looks: int
) -> None:
    probed: dict[ShardKey, datetime | None] = {key(number): None for number in range(shards)}
    now = NOW
    for _ in range(looks):
        turn = due(probed, now, timedelta(seconds=interval))
        assert len(turn) <= max(1, interval * PROBES_PER_SECOND)
        assert len(set(turn)) == len(turn)
        assert all(now - (probed[it] or ago(60)) >= PERIOD for it in turn)
        left = [at or ago(60) for it, at in probed.items() if it not in set(turn)]
        # Nobody waits longer than those whose turn it is.
        assert all((probed[it] or ago(60)) <= min(left, default=now) for it in turn)
        probed.update(dict.fromkeys(turn, now))
        now += timedelta(seconds=interval)


@given(st.floats(0.01, 2_000_000))
def test_a_probe_reads_little(size: float) -> None:
    asked = limit(size)
    assert 1 <= asked <= MOST_RECORDS
    assert asked == 1 or asked * size <= SAMPLE_BYTES


def test_an_unknown_size_is_one_record() -> None:
    assert limit(None) == 1


def test_the_busiest_shard_is_the_cost_of_the_last_minute() -> None:
    spending = Spending()
    assert spending.cost(NOW) == Cost()
    spending.add(ago(61), key(0), 10**9)
    for age in (50, 40, 30):
        spending.add(ago(age), key(0), 1024)
    spending.add(ago(20), key(1), 1024 * 1024)
    assert spending.cost(NOW) == Cost(calls=3 / 300, bytes=1 / 120)
