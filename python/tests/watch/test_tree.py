"""The shards by descent."""

from __future__ import annotations

from dataclasses import replace

from hypothesis import given
from hypothesis import strategies as st

from spark_kinesis._offsets import Progress, ShardOffset
from spark_kinesis._watch.snapshot import ShardFacts
from spark_kinesis._watch.tree import State, tree

from .given import NOW, after, family, name

POSITION = after(5, NOW)


def facts(*parents: int, position: ShardOffset | None = None) -> ShardFacts:
    return ShardFacts(**family(*parents), position=position)


@st.composite
def streams(draw: st.DrawFn) -> dict[str, ShardFacts]:
    """Shards, each with up to two earlier parents, some of them unknown; some have a position."""
    found = {}
    for number in range(draw(st.integers(0, 12))):
        parents = draw(st.sets(st.integers(-2, number - 1), max_size=2)) if number else set()
        position = draw(st.sampled_from([None, POSITION, replace(POSITION, waits_for=("x",))]))
        found[name(number)] = facts(*sorted(parents), position=position)
    return found


@given(streams())
def test_each_shard_is_contained_once_after_its_first_parent(
    shards: dict[str, ShardFacts],
) -> None:
    nodes = tree(shards)
    assert sorted(it.shard for it in nodes) == sorted(shards)
    place = {it.shard: at for at, it in enumerate(nodes)}
    for node in nodes:
        if not node.parents:
            assert node.depth == 0
            continue
        first = nodes[place[node.parents[0]]]
        assert place[first.shard] < place[node.shard]
        assert node.depth == first.depth + 1
        between = nodes[place[first.shard] + 1 : place[node.shard]]
        assert all(it.depth > first.depth for it in between)


def ancestors(shards: dict[str, ShardFacts], shard: str) -> set[str]:
    """Of a shard, those that are listed. Written in another way than the code."""
    parents = set(shards[shard].parents) & set(shards)
    return parents.union(*(ancestors(shards, it) for it in parents))


@given(streams())
def test_a_shard_is_done_above_the_offset_and_later_below_it(shards: dict[str, ShardFacts]) -> None:
    active = {it for it, found in shards.items() if found.position is not None}
    above = set().union(*(ancestors(shards, it) for it in active))
    for node in tree(shards):
        position = shards[node.shard].position
        if position is not None:
            assert node.state is (State.WAITING if position.waits_for else State.READING)
        elif node.shard in above:
            assert node.state is State.DONE
        else:
            below = ancestors(shards, node.shard) & active
            assert node.state is (State.LATER if below else State.UNKNOWN)


def test_a_split_and_a_merge() -> None:
    finished = ShardOffset(progress=Progress.FINISHED)
    nodes = tree(
        {
            name(0): ShardFacts(**family(is_open=False), position=None),
            name(1): ShardFacts(**family(0, is_open=False), position=finished),
            name(2): ShardFacts(**family(0, is_open=False), position=POSITION),
            name(3): facts(1, 2, position=replace(POSITION, waits_for=(name(1), name(2)))),
            name(4): facts(9),
            name(5): ShardFacts(position=POSITION),
        }
    )
    assert [(it.shard, it.depth, it.state, it.is_open) for it in nodes] == [
        (name(0), 0, State.DONE, False),
        (name(1), 1, State.DONE, False),
        (name(3), 2, State.WAITING, True),
        (name(2), 1, State.READING, False),
        (name(4), 0, State.UNKNOWN, True),
        (name(5), 0, State.READING, None),
    ]
    # The next micro-batch reads a shard when all of its parents are finished.
    waits = replace(POSITION, waits_for=(name(1),))
    shards = {name(1): ShardFacts(position=finished), name(2): facts(1, position=waits)}
    (_, child) = tree(shards)
    assert child.state is State.READING
    assert nodes[2].parents == (name(1), name(2))
    assert nodes[3].children == (name(3),)
