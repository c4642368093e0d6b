"""How fast a query advances."""

from __future__ import annotations

from datetime import timedelta

import pytest
from hypothesis import given
from hypothesis import strategies as st

from spark_kinesis._watch.forecast import Step, is_stalled, period, recent, speeds

from .given import NOW, ago, key, steps


@given(st.floats(0, 50), st.integers(2, 20))
def test_the_speed_is_arrival_time_per_time(speed: float, count: int) -> None:
    found = speeds(steps(speed, 0, 1, count=count), NOW, set())
    assert found == {key(0): pytest.approx(speed, abs=1e-5), key(1): pytest.approx(speed, abs=1e-5)}


def test_a_query_that_stopped_loses_speed_while_records_wait() -> None:
    way = steps(1.0, 0, 1)
    soon, later = NOW + timedelta(seconds=25), NOW + timedelta(minutes=4)
    assert not is_stalled(way, soon)
    assert is_stalled(way, later)
    assert speeds(way, soon, {key(0)})[key(0)] == 1
    found = speeds(way, later, {key(0)})
    assert found[key(0)] == pytest.approx(40 / 280)
    assert found[key(1)] == 1  # no record waits there
    assert speeds(way, NOW + timedelta(days=1), {key(0)})[key(0)] < 0.001


def test_a_long_trigger_interval_is_no_stall() -> None:
    way = [
        Step(at=ago(1200 * age), number=3 - age, complete={key(0): ago(1200 * age)})
        for age in (3, 2, 1)
    ]
    assert period(way) == timedelta(minutes=20)
    assert not is_stalled(way, NOW)
    assert recent(way, NOW) == way[1:]  # the last two, although they are old
    assert speeds(way, NOW, {key(0)}) == {key(0): 1}


def test_old_steps_do_not_count() -> None:
    old = Step(at=ago(400), number=0, complete={key(0): ago(9000)})
    assert recent((old, *steps(1.0, 0)), NOW) == list(steps(1.0, 0))


def test_too_few_steps_have_no_speed() -> None:
    assert period(()) is None
    assert recent((), NOW) == []
    assert speeds(steps(1.0, 0, count=1), NOW, {key(0)}) == {}


def test_micro_batches_that_are_not_known_count_for_the_period() -> None:
    way = steps(1.0, 0)
    assert period(way) == period([way[0], way[3], way[4]]) == timedelta(seconds=10)
