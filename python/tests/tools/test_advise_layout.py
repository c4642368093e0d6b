"""The shards that the advisor wants, against the true load of made-up traffic."""

from __future__ import annotations

import random

import pytest
from hypothesis import given
from hypothesis import strategies as st

from python.tests.advise.traffic import borders, loads_after, made_up, sampled
from spark_kinesis.advise.shards import (
    HashRange,
    Limits,
    Point,
    Rate,
    ShardLoad,
    Split,
    Step,
    all_steps,
    next_step,
    plan_layout,
)
from spark_kinesis.stream.shards import HASH_KEYS

LIMITS = Limits()
ROWS = 3000
LAST = HASH_KEYS - 1


@pytest.mark.parametrize("seed", range(25))
def test_no_shard_is_above_the_target_where_the_keys_allow_it(seed: int) -> None:
    chance = random.Random(seed)
    traffic = made_up(chance, shards=chance.uniform(0.2, 12), hot=chance.choice([0, 0, 1, 3]))
    layout = plan_layout(sampled(chance, traffic, borders(chance, 5), ROWS), LIMITS)
    true = {key: rate.used for _, key, rate in traffic.keys}
    for piece, load in zip(layout.pieces, loads_after(traffic, layout), strict=True):
        if load.used > LIMITS.most:
            assert piece.hot is not None, (seed, piece, load.used)
            assert true[piece.hot.key] > LIMITS.most * 0.9
            assert load.used - true[piece.hot.key] < 0.15  # its neighbors are elsewhere
    told = {it.key for it in layout.hot}
    assert {key for key, used in true.items() if used > LIMITS.most * 1.1} <= told


@pytest.mark.parametrize("seed", range(25))
def test_there_are_not_many_more_shards_than_necessary(seed: int) -> None:
    chance = random.Random(seed)
    traffic = made_up(chance, shards=chance.uniform(0.2, 12), hot=0)
    layout = plan_layout(sampled(chance, traffic, borders(chance, 5), ROWS), LIMITS)
    # Neighbors that use more than a half together stay: at worst, shards are a quarter full.
    assert len(layout.pieces) <= 2 + 2 * sum(it.used for it in loads_after(traffic, layout)) / 0.5
    assert len(layout.pieces) >= layout.least


@pytest.mark.parametrize("seed", range(12))
def test_advice_that_was_followed_is_not_repeated(seed: int) -> None:
    chance = random.Random(seed)
    traffic = made_up(chance, shards=chance.uniform(1, 8), hot=1)
    first = plan_layout(sampled(chance, traffic, borders(chance, 4), ROWS), LIMITS)
    ranges = [(it.first_key, it.last_key) for it in first.pieces]
    again = plan_layout(sampled(chance, traffic, ranges, ROWS), LIMITS)
    # A new sample has another error: few borders move, and it ends.
    assert len(set(again.starts) ^ set(first.starts)) <= 2


def even(count: int, load: Rate, **fields: object) -> list[ShardLoad]:
    width = HASH_KEYS // count
    return [
        ShardLoad(
            id=f"s{number}",
            first_key=number * width,
            last_key=(number + 1) * width - 1,
            peak=load,
            **fields,  # type: ignore[arg-type]
        )
        for number in range(count)
    ]


def points(*loads: tuple[int, float]) -> tuple[Point, ...]:
    return tuple(
        Point(hash_key=place, key=f"k{place}", records=records, bytes=records * 10)
        for place, records in loads
    )


def test_halves_carry_equal_load_and_not_equal_ranges() -> None:
    shard = ShardLoad(
        id="s",
        first_key=0,
        last_key=LAST,
        peak=Rate(records=1200, bytes=12_000),
        sampled=100_000,
        points=points(*((1000 + number, 100.0) for number in range(1000))),
    )
    layout = plan_layout([shard], LIMITS)
    assert layout.starts == (0, 1500)
    assert [it.load.records for it in layout.pieces] == pytest.approx([600, 600])


def test_without_a_sample_a_shard_is_cut_in_the_middle() -> None:
    layout = plan_layout(even(1, Rate(records=1000)), LIMITS)
    assert layout.starts[0] == 0
    assert layout.starts[1:] == pytest.approx([HASH_KEYS // 2], rel=0.01)


def test_a_hot_key_alone_is_told_and_not_split() -> None:
    shard = ShardLoad(
        id="s",
        first_key=0,
        last_key=LAST,
        peak=Rate(records=1500),
        sampled=1000,
        points=points((7, 990.0), (HASH_KEYS // 2, 10.0)),
    )
    (piece,) = plan_layout([shard], LIMITS).pieces
    assert piece.hot is not None
    assert (piece.hot.key, piece.hot.hash_key) == ("k7", 7)
    assert piece.hot.share == pytest.approx(0.99)
    assert piece.hot.used == pytest.approx(1.485)


def test_a_hot_key_gets_a_shard_if_its_neighbors_suffer() -> None:
    shard = ShardLoad(
        id="s",
        first_key=0,
        last_key=LAST,
        peak=Rate(records=1500),
        sampled=10_000,
        points=points((10**9, 1500.0), (2 * 10**9, 7000.0), (3 * 10**9, 1500.0)),
    )
    low, hot, high = plan_layout([shard], Limits(merged=0.0)).pieces
    assert hot.hot is not None
    assert hot.first_key == 1_500_000_001
    assert hot.last_key == 2_500_000_000
    assert (low.hot, high.hot) == (None, None)


def test_cold_neighbors_are_merged_up_to_the_limit() -> None:
    (piece,) = plan_layout(even(4, Rate(records=100)), LIMITS).pieces
    assert piece.shards == ("s0", "s1", "s2", "s3")
    assert piece.load.records == 400
    assert len(plan_layout(even(4, Rate(records=200)), LIMITS).pieces) == 2
    assert len(plan_layout(even(4, Rate(records=300)), LIMITS).pieces) == 4


def test_adjacent_hash_keys_leave_two_in_each_shard() -> None:
    shard = ShardLoad(
        id="s",
        first_key=0,
        last_key=5,
        peak=Rate(records=3000),
        sampled=6000,
        points=points(*((number, 1000.0) for number in range(6))),
    )
    pieces = plan_layout([shard], LIMITS).pieces
    assert [it.last_key - it.first_key + 1 for it in pieces] == [2, 2, 2]


def followed(shards: list[HashRange], wanted: set[int]) -> list[Step]:
    """The steps that `next_step` says call by call."""
    steps: list[Step] = []
    born = 0
    while step := next_step(shards, wanted):
        names = {step.shard, getattr(step, "adjacent", "")}
        old = sorted((it for it in shards if it.id in names), key=lambda it: it.first_key)
        first, last = old[0].first_key, old[-1].last_key
        starts = [first, step.at] if isinstance(step, Split) else [first]
        ends = [it - 1 for it in starts[1:]] + [last]
        shards = [it for it in shards if it not in old]
        for begin, end in zip(starts, ends, strict=True):
            born += 1
            shards.append(HashRange(id=f"new-{born}", first_key=begin, last_key=end))
        steps.append(step)
    return steps


@given(st.sets(st.integers(2, 10_000).map(lambda it: it * 7)), st.sets(st.integers(3, 10_000)))
def test_steps_lead_to_the_wanted_shards(present: set[int], wanted: set[int]) -> None:
    starts = sorted({0, *present})
    ends = [it - 1 for it in starts[1:]] + [LAST]
    ranges = [
        HashRange(id=f"s{first}", first_key=first, last_key=last)
        for first, last in zip(starts, ends, strict=True)
    ]
    goal = {0, *wanted}
    steps = all_steps(ranges, goal)
    assert steps == followed(ranges, goal)
    assert len(steps) == len(goal - set(starts)) + len(set(starts) - goal)
    assert {it.at for it in steps} == goal ^ set(starts)


def test_a_shard_is_cut_in_few_generations() -> None:
    whole = [HashRange(id="s", first_key=0, last_key=LAST)]
    steps = all_steps(whole, {0, *(number * 1000 for number in range(1, 8))})
    assert steps[0].at == 4000
    parent = {"s": 0}
    for number, step in enumerate(steps):
        depth = parent[getattr(step, "shard")] + 1  # noqa: B009
        parent[f"new-{2 * number + 1}"] = parent[f"new-{2 * number + 2}"] = depth
    assert max(parent.values()) == 3


@pytest.mark.parametrize(("most", "merged"), [(0.5, 0.6), (1.2, 0.5), (0.0, 0.0), (0.8, -0.1)])
def test_limits_are_checked(most: float, merged: float) -> None:
    with pytest.raises(ValueError, match="use after a merge"):
        Limits(most=most, merged=merged)
