"""Which shards are probed, and what it costs."""

from __future__ import annotations

from datetime import datetime, timedelta

from hypothesis import given
from hypothesis import strategies as st

from spark_kinesis._watch.snapshot import Cost, ShardKey
from spark_kinesis.tools.top.probes import (
    MOST_RECORDS,
    PERIOD,
    PROBES_PER_SECOND,
    SAMPLE_BYTES,
    Spending,
    due,
    limit,
)

from .given import NOW, ago, key


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
