"""The shards that the advisor wants, against the true load of made-up traffic."""

from __future__ import annotations

import random

import pytest
from hypothesis import given
from hypothesis import strategies as st

from python.tests.tools.traffic import Traffic, borders, loads_after, made_up, sampled
from spark_kinesis.tools.advising.layout import (
    Atom,
    Layout,
    Rate,
    ShardLoad,
    Split,
    Step,
    all_steps,
    next_step,
    plan_layout,
)
from spark_kinesis.tools.facts.streams import HASH_KEYS, StreamShard

MOST = 0.8
ROWS = 3000
LAST = HASH_KEYS - 1


def planned(chance: random.Random, traffic: Traffic, count: int) -> Layout:
    return plan_layout(sampled(chance, traffic, borders(chance, count), ROWS), MOST)


@pytest.mark.parametrize("seed", range(25))
def test_no_shard_is_above_the_target_where_the_keys_allow_it(seed: int) -> None:
    chance = random.Random(seed)
    traffic = made_up(chance, shards=chance.uniform(0.2, 12), hot=chance.choice([0, 0, 1, 3]))
    layout = planned(chance, traffic, 5)
    told = {it.key for it in layout.hot}
    true = {key: rate.used for _, key, rate in traffic.keys}
    assert {key for key, used in true.items() if used > MOST * 1.1} <= told
    ends = [it - 1 for it in layout.starts[1:]] + [LAST]
    for first, last in zip(layout.starts, ends, strict=True):
        load = traffic.load(first, last).used
        if load > MOST:
            inside = [true[key] for _, key, _ in traffic.between(first, last) if key in told]
            assert inside, (seed, first, load)
            assert load - max(inside) < 0.15  # its neighbors are elsewhere


@pytest.mark.parametrize("seed", range(25))
def test_there_are_not_many_more_shards_than_necessary(seed: int) -> None:
    chance = random.Random(seed)
    traffic = made_up(chance, shards=chance.uniform(0.2, 12), hot=0)
    layout = planned(chance, traffic, 5)
    # Neighbors that use more than a half together stay: at worst, shards are a quarter full.
    assert len(layout.pieces) <= 2 + 2 * sum(it.used for it in loads_after(traffic, layout)) / 0.5


@pytest.mark.parametrize("seed", range(12))
def test_advice_that_was_followed_is_not_repeated(seed: int) -> None:
    chance = random.Random(seed)
    traffic = made_up(chance, shards=chance.uniform(1, 8), hot=1)
    first = planned(chance, traffic, 4)
    ranges = list(zip(first.starts, [it - 1 for it in first.starts[1:]] + [LAST], strict=True))
    again = plan_layout(sampled(chance, traffic, ranges, ROWS), MOST)
    # A new sample has another error: few borders move, and it ends.
    assert len(set(again.starts) ^ set(first.starts)) <= 2


def even(count: int, records: float) -> list[ShardLoad]:
    width = HASH_KEYS // count
    return [
        ShardLoad(
            id=f"s{number}",
            first_key=number * width,
            last_key=(number + 1) * width - 1,
            peak=Rate(records=records),
        )
        for number in range(count)
    ]


def whole(peak: float, *loads: tuple[int, float], sampled: int = 10_000) -> ShardLoad:
    """A shard with some hash keys, each with its part of the records."""
    return ShardLoad(
        id="s",
        first_key=0,
        last_key=LAST,
        peak=Rate(records=peak),
        sampled=sampled,
        atoms=tuple(
            Atom(hash_key=place, records=part, bytes=part, key=f"k{place}") for place, part in loads
        ),
    )


def test_halves_carry_equal_load_and_not_equal_ranges() -> None:
    shard = whole(1200, *((1000 + number, 0.001) for number in range(1000)), sampled=100_000)
    layout = plan_layout([shard], MOST)
    assert layout.starts == (0, 1500)


def test_without_a_sample_a_shard_is_cut_in_the_middle() -> None:
    layout = plan_layout(even(1, 1000), MOST)
    assert layout.starts[0] == 0
    assert layout.starts[1:] == pytest.approx([HASH_KEYS // 2], rel=0.01)


def test_a_hot_key_is_named() -> None:
    layout = plan_layout([whole(1500, (7, 0.99), (HASH_KEYS // 2, 0.01), sampled=1000)], MOST)
    (hot,) = layout.hot
    assert (hot.key, hot.shard) == ("k7", "s")
    assert hot.used == pytest.approx(1.5, rel=0.01)


def test_a_hot_key_gets_a_shard_if_its_neighbors_suffer() -> None:
    shard = whole(1500, (10**9, 0.15), (2 * 10**9, 0.7), (3 * 10**9, 0.15))
    layout = plan_layout([shard], MOST)
    assert layout.starts == (0, 1_500_000_001, 2_500_000_001)
    assert [it.key for it in layout.hot] == ["k2000000000"]


def test_cold_neighbors_are_merged_up_to_the_limit() -> None:
    assert plan_layout(even(4, 100), MOST).starts == (0,)
    assert len(plan_layout(even(4, 200), MOST).pieces) == 2
    assert len(plan_layout(even(4, 300), MOST).pieces) == 4


def test_adjacent_hash_keys_leave_two_in_each_shard() -> None:
    shard = ShardLoad(
        id="s",
        first_key=0,
        last_key=5,
        peak=Rate(records=3000),
        sampled=6000,
        atoms=tuple(Atom(hash_key=it, records=1 / 6, bytes=1 / 6, key="k") for it in range(6)),
    )
    assert plan_layout([shard], MOST).starts == (0, 2, 4)


def ranged(name: str, first: int, last: int) -> StreamShard:
    return StreamShard(id=name, parents=(), first_key=first, last_key=last, starting=1, ending=None)


def followed(shards: list[StreamShard], wanted: set[int]) -> list[Step]:
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
            shards.append(ranged(f"new-{born}", begin, end))
        steps.append(step)
    return steps


@given(st.sets(st.integers(2, 10_000).map(lambda it: it * 7)), st.sets(st.integers(3, 10_000)))
def test_steps_lead_to_the_wanted_shards(present: set[int], wanted: set[int]) -> None:
    starts = sorted({0, *present})
    ends = [it - 1 for it in starts[1:]] + [LAST]
    ranges = [ranged(f"s{first}", first, last) for first, last in zip(starts, ends, strict=True)]
    goal = {0, *wanted}
    steps = all_steps(ranges, goal)
    assert steps == followed(ranges, goal)
    assert len(steps) == len(goal - set(starts)) + len(set(starts) - goal)


def test_a_shard_is_cut_in_few_generations() -> None:
    whole = [ranged("s", 0, LAST)]
    steps = all_steps(whole, {0, *(number * 1000 for number in range(1, 8))})
    assert steps[0] == Split(shard="s", at=4000)
    parent = {"s": 0}
    for number, step in enumerate(steps):
        depth = parent[step.shard] + 1
        parent[f"new-{2 * number + 1}"] = parent[f"new-{2 * number + 2}"] = depth
    assert max(parent.values()) == 3
