"""How fast a query advances, and when it catches up or loses data."""

from __future__ import annotations

from datetime import timedelta

import pytest
from hypothesis import given
from hypothesis import strategies as st

from spark_kinesis._watch.snapshot import (
    EVEN,
    LEAST_TOLERANCE,
    Forecast,
    Outlook,
    ShardView,
    Step,
    forecast,
    is_stalled,
    of_all,
    speeds,
    tolerance,
)

from .given import DAY, NOW, ago, key, steps

TOLERANCE = timedelta(seconds=30)
LAGS = st.timedeltas(timedelta(seconds=31), timedelta(hours=23))
SLOW = st.floats(0, 1 - EVEN - 0.01)
FAST = st.floats(1 + EVEN + 0.01, 100)
ANY = st.one_of(st.none(), st.floats(0, 100))
CLOSE = timedelta(milliseconds=1)


def of(lag: timedelta | None, speed: float | None, retention: timedelta | None = DAY) -> Forecast:
    return forecast(NOW, lag, speed, retention, TOLERANCE)


def together(*shards: tuple[str, Forecast]) -> Forecast:
    """The forecast of a query with these shards."""
    return of_all(
        [
            ShardView(stream="s", shard=shard, waits_for=(), lag=None, speed=None, forecast=it)
            for shard, it in shards
        ]
    )


def lag_at(moment: timedelta, lag: timedelta, speed: float) -> timedelta:
    """What the lag is after a while: it grows with time, and shrinks with what is read."""
    return lag + moment - moment * speed


@given(LAGS, FAST)
def test_a_fast_query_has_no_lag_when_it_has_caught_up(lag: timedelta, speed: float) -> None:
    found = of(lag, speed)
    assert found.outlook is Outlook.CATCHES_UP
    assert found.at is not None
    assert abs(lag_at(found.at - NOW, lag, speed)) < speed * CLOSE


@given(LAGS, SLOW)
def test_a_slow_query_is_a_retention_period_behind_when_it_loses_data(
    lag: timedelta, speed: float
) -> None:
    found = of(lag, speed)
    assert found.outlook is Outlook.LOSES_DATA
    assert found.at is not None
    assert found.at > NOW
    assert abs(lag_at(found.at - NOW, lag, speed) - DAY) < CLOSE


@given(LAGS, FAST, st.floats(0, 10))
def test_a_faster_query_catches_up_earlier(lag: timedelta, speed: float, more: float) -> None:
    slow, fast = of(lag, speed).at, of(lag, speed + more).at
    assert slow is not None
    assert fast is not None
    assert fast <= slow


@given(LAGS, LAGS, SLOW)
def test_a_larger_lag_loses_data_earlier(one: timedelta, other: timedelta, speed: float) -> None:
    first, second = of(max(one, other), speed).at, of(min(one, other), speed).at
    assert first is not None
    assert second is not None
    assert first <= second


@given(LAGS, st.floats(1 - EVEN, 1 + EVEN))
def test_an_even_speed_keeps_the_distance(lag: timedelta, speed: float) -> None:
    assert of(lag, speed) == Forecast(outlook=Outlook.KEEPS_DISTANCE)


@given(st.timedeltas(timedelta(), TOLERANCE), ANY)
def test_a_small_lag_is_none(lag: timedelta, speed: float | None) -> None:
    assert of(lag, speed) == Forecast(outlook=Outlook.CAUGHT_UP)


@given(ANY, st.timedeltas(DAY, 9 * DAY))
def test_a_lag_beyond_the_retention_period_loses_data_now(
    speed: float | None, lag: timedelta
) -> None:
    assert of(lag, speed) == Forecast(outlook=Outlook.LOSES_DATA, at=NOW)


def test_what_is_unknown_is_said() -> None:
    hour = timedelta(hours=1)
    assert of(None, 1.0).outlook is Outlook.UNKNOWN
    assert of(hour, None).outlook is Outlook.UNKNOWN
    assert of(hour, 0.5, retention=None) == Forecast(outlook=Outlook.LOSES_DATA)
    assert together().outlook is Outlook.UNKNOWN


@given(st.lists(st.tuples(st.text(min_size=1), LAGS, st.floats(0, 100)), min_size=1))
def test_the_worst_shard_decides(shards: list[tuple[str, timedelta, float]]) -> None:
    every = [(shard, of(lag, speed)) for shard, lag, speed in shards]
    found = together(*every)
    lost = [it.at for _, it in every if it.outlook is Outlook.LOSES_DATA and it.at]
    late = [it.at for _, it in every if it.outlook is Outlook.CATCHES_UP and it.at]
    if lost:
        assert (found.outlook, found.at) == (Outlook.LOSES_DATA, min(lost))
    elif len(late) == len(every):
        assert (found.outlook, found.at) == (Outlook.CATCHES_UP, max(late))
    assert found.shard in {shard for shard, *_ in shards}


@given(LAGS, FAST)
def test_a_query_has_caught_up_when_all_shards_have(lag: timedelta, speed: float) -> None:
    here = of(timedelta(), None)
    assert together(("a", here), ("b", here)) == here
    behind = of(lag, speed)
    assert together(("a", here), ("b", behind)).shard == "b"


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
    way = [Step(at=ago(1200 * age), complete={key(0): ago(1200 * age)}) for age in (3, 2, 1)]
    assert not is_stalled(way, NOW)
    assert speeds(way, NOW, {key(0)}) == {key(0): 1}  # the last two, although they are old


def test_old_steps_do_not_count() -> None:
    old = Step(at=ago(400), complete={key(0): ago(9000)})
    assert speeds((old, *steps(1.0, 0)), NOW, set()) == {key(0): 1}


def test_one_step_has_no_speed() -> None:
    assert speeds((), NOW, {key(0)}) == {}
    assert speeds(steps(1.0, 0, count=1), NOW, {key(0)}) == {}
    assert not is_stalled(steps(1.0, 0, count=1), NOW + DAY)


def test_three_micro_batches_are_no_lag() -> None:
    assert tolerance(()) == LEAST_TOLERANCE
    assert tolerance(steps(1.0, 0)) == LEAST_TOLERANCE
    rare = [Step(at=ago(600 * age), complete={}) for age in (2, 1, 0)]
    assert tolerance(rare) == timedelta(minutes=30)
