"""The choice of shards to split and merge, and the order in which shards are read."""

from __future__ import annotations

import pytest
from hypothesis import given
from hypothesis import strategies as st

from spark_kinesis.local._shards import (
    Shard,
    described,
    open_shards,
    pair_to_merge,
    parents_first,
    shard_to_split,
)

KEY_SPACE = 2**128


def shard(number: int, first: int, last: int, *parents: int, is_open: bool = True) -> Shard:
    names = tuple(name(parent) for parent in parents)
    return Shard(id=name(number), is_open=is_open, first=first, last=last, parents=names)


def name(number: int) -> str:
    return f"shardId-{number:012d}"


@st.composite
def histories(draw: st.DrawFn) -> list[Shard]:
    """The shards of a stream after some splits and merges, in any order."""
    shards = {name(0): shard(0, 0, KEY_SPACE - 1)}
    for _ in range(draw(st.integers(0, 12))):
        living = open_shards(list(shards.values()))
        if len(living) > 1 and draw(st.booleans()):
            low, high = pair_to_merge("s", living, None, None)
            born = [shard(len(shards), low.first, high.last, number(low), number(high))]
            closed = [low, high]
        else:
            split = draw(st.sampled_from(living))
            at = split.middle
            born = [
                shard(len(shards), split.first, at - 1, number(split)),
                shard(len(shards) + 1, at, split.last, number(split)),
            ]
            closed = [split]
        for old in closed:
            shards[old.id] = shard(number(old), old.first, old.last, *parents(old), is_open=False)
        shards |= {new.id: new for new in born}
    return draw(st.permutations(list(shards.values())))


def number(one: Shard) -> int:
    return int(one.name)


def parents(one: Shard) -> list[int]:
    return [int(parent.removeprefix("shardId-")) for parent in one.parents]


@given(histories())
def test_parents_come_first(shards: list[Shard]) -> None:
    ordered = parents_first(shards)
    assert sorted(s.id for s in ordered) == sorted(s.id for s in shards)
    places = {s.id: at for at, s in enumerate(ordered)}
    assert all(places[parent] < places[s.id] for s in shards for parent in s.parents)


def test_an_expired_parent_is_ignored() -> None:
    low, high = shard(2, 0, 9, 0), shard(3, 10, 19, 1)
    assert parents_first([high, low]) == [low, high]


@given(histories())
def test_the_widest_open_shard_is_split_in_the_middle(shards: list[Shard]) -> None:
    chosen = shard_to_split("s", shards, None, None)
    assert chosen.is_open
    assert chosen.width == max(s.width for s in open_shards(shards))
    lower, upper = chosen.middle - chosen.first, chosen.last - chosen.middle + 1
    assert 0 <= upper - lower <= 1


@given(histories(), st.integers(0, KEY_SPACE - 1))
def test_a_hash_key_selects_the_shard_to_split(shards: list[Shard], at: int) -> None:
    chosen = shard_to_split("s", shards, None, at)
    assert chosen.is_open
    assert chosen.first <= at <= chosen.last


@given(histories(), st.data())
def test_shards_to_merge_are_adjacent(shards: list[Shard], data: st.DataObject) -> None:
    living = open_shards(shards)
    if len(living) < 2:
        with pytest.raises(ValueError, match="stream s: no two adjacent open shards to merge"):
            pair_to_merge("s", shards, None, None)
        return
    wanted = data.draw(st.sampled_from([None, *living]))
    low, high = pair_to_merge("s", shards, wanted.id if wanted else None, None)
    assert low.last + 1 == high.first
    assert wanted in (None, low, high)
    assert pair_to_merge("s", shards, high.id, low.id) == (low, high)


def test_the_upper_neighbor_is_preferred() -> None:
    a, b, c = shard(0, 0, 9), shard(1, 10, 19), shard(2, 20, 29)
    assert pair_to_merge("s", [a, b, c], b.id, None) == (b, c)
    assert pair_to_merge("s", [a, b, c], c.id, None) == (b, c)
    with pytest.raises(ValueError, match=r"no two adjacent open shards with .*0 and .*2 to merge"):
        pair_to_merge("s", [a, b, c], a.id, c.id)


def test_a_shard_that_is_not_open_is_named() -> None:
    closed, living = shard(0, 0, 9, is_open=False), shard(1, 0, 9, 0)
    with pytest.raises(
        ValueError, match=r"stream s: '.*0' is not an open shard. Open shards: shardId-0*1$"
    ):
        shard_to_split("s", [closed, living], closed.id, None)
    with pytest.raises(ValueError, match="stream s: no open shard has the hash key -1"):
        shard_to_split("s", [closed, living], None, -1)


def test_a_shard_from_its_description() -> None:
    found = described(
        {
            "ShardId": name(7),
            "ParentShardId": name(1),
            "AdjacentParentShardId": name(2),
            "HashKeyRange": {"StartingHashKey": "5", "EndingHashKey": str(KEY_SPACE - 1)},
            "SequenceNumberRange": {"StartingSequenceNumber": "1", "EndingSequenceNumber": "9"},
        }
    )
    assert found == shard(7, 5, KEY_SPACE - 1, 1, 2, is_open=False)
    assert found.name == "7"
