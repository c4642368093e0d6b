"""Any consumer that reads parents first hands over exactly what it has not read."""

from __future__ import annotations

from collections.abc import Mapping
from collections.abc import Set as AbstractSet
from random import Random
from typing import TYPE_CHECKING

from hypothesis import given
from hypothesis import strategies as st

from python.tests.migrate.streams import (
    LAST,
    SHARD_END,
    TIMES,
    TRIM_HORIZON,
    WIDTH,
    after,
    shard,
    shard_id,
)
from spark_kinesis._offsets import Progress
from spark_kinesis.tools.handover.takeover import Joint, plan_start

if TYPE_CHECKING:
    from spark_kinesis.tools.facts.streams import StreamShard
    from spark_kinesis.tools.handover.positions import Stop

RECORDS = 9  # per shard: sequence numbers 10, 20, …, 90 within it
Record = tuple[str, int]


def lineage(random: Random) -> dict[str, StreamShard]:
    """Two shards, and what splits and merges make of them."""
    made = {shard_id(number): shard(number) for number in range(2)}
    for _ in range(random.randrange(6)):
        tips = [it for it in made.values() if it.is_open]
        chosen = random.sample(tips, 2 if len(tips) > 2 and random.random() < 0.4 else 1)
        numbers = [int(it.id[-4:]) for it in chosen]
        for number, old in zip(numbers, chosen, strict=True):
            parents = [int(it[-4:]) for it in old.parents]
            made[old.id] = shard(number, *parents, is_open=False)
        for _ in range(2 if len(numbers) == 1 else 1):
            made[shard_id(len(made))] = shard(len(made), *numbers)
    return made


def records(one: StreamShard) -> list[Record]:
    return [(one.id, one.starting + 10 * number) for number in range(1, RECORDS + 1)]


class Consumer:
    """Reads parents before children, and stores a position per shard, as the KCL does."""

    def __init__(self, shards: Mapping[str, StreamShard], random: Random) -> None:
        self.read: set[Record] = set()
        self.stops: dict[str, Stop] = {}
        for one in sorted(shards.values(), key=lambda it: it.id):
            if any(self.stops.get(parent) != SHARD_END for parent in one.parents):
                if random.random() < 0.3:  # some versions store all shards at once
                    self.stops[one.id] = TRIM_HORIZON
                continue
            self._read(one, random)
        self._forget(shards, random)

    def _read(self, one: StreamShard, random: Random) -> None:
        if not one.is_open and random.random() < 0.6:
            self.stops[one.id] = SHARD_END
            self.read.update(records(one))
            return
        count = random.randrange(RECORDS + 1)
        done = records(one)[:count]
        self.read.update(done)
        self.stops[one.id] = after(done[-1][1]) if done else TRIM_HORIZON

    def _forget(self, shards: Mapping[str, StreamShard], random: Random) -> None:
        """Delete positions of finished shards when their children have begun."""
        for name in [it for it, stop in self.stops.items() if stop == SHARD_END]:
            children = [it for it in shards.values() if name in it.parents]
            begun = all(self.stops.get(it.id, TRIM_HORIZON) != TRIM_HORIZON for it in children)
            if begun and random.random() < 0.5:
                del self.stops[name]


def query(shards: Mapping[str, StreamShard], plan: list[Joint]) -> list[Record]:
    """What a query reads from there, in order, by the rules of the checkpoint format."""
    waiting = {it.shard.id: it.offset for it in plan}
    waits_for = {name: set(offset.waits_for) for name, offset in waiting.items()}
    found: list[Record] = []
    while ready := sorted(name for name in waiting if not waits_for[name]):
        for name in ready:
            offset = waiting.pop(name)
            number = offset.sequence_number or 0
            after_it = [it for it in records(shards[name]) if it[1] > number]
            is_all = offset.progress is Progress.TRIM_HORIZON
            found += records(shards[name]) if is_all else after_it
            for parents in waits_for.values():
                parents.discard(name)
            for child in (it for it in shards.values() if name in it.parents):
                assert child.id in waiting, "a shard that was read would come again"
    assert not waiting, "a shard waits for ever"
    return found


def unread(shards: Mapping[str, StreamShard], read: AbstractSet[Record]) -> set[Record]:
    return {record for one in shards.values() for record in records(one)} - read


@given(st.integers(0, 10**9))
def test_a_query_reads_exactly_what_the_consumer_has_not_read(seed: int) -> None:
    random = Random(seed)
    shards = lineage(random)
    consumer = Consumer(shards, random)
    listed = [it for it in shards.values() if not expired(it, shards, consumer, random)]
    plan = plan_start("orders", listed, consumer.stops, TIMES)
    left = {it.id: it for it in listed}
    read = query(left, plan)
    assert set(read) == unread(left, consumer.read)
    assert len(read) == len(set(read))
    assert_parents_first(left, read)


def expired(
    one: StreamShard, shards: Mapping[str, StreamShard], consumer: Consumer, random: Random
) -> bool:
    """Oldest shards that were read to their end may have expired."""
    is_read = consumer.stops.get(one.id, SHARD_END) == SHARD_END
    oldest = not any(parent in shards for parent in one.parents)
    return oldest and is_read and not one.is_open and random.random() < 0.5


def assert_parents_first(shards: Mapping[str, StreamShard], read: list[Record]) -> None:
    place = {record: number for number, record in enumerate(read)}
    for one in shards.values():
        for parent in (it for it in one.parents if it in shards):
            before = [place[it] for it in records(shards[parent]) if it in place]
            behind = [place[it] for it in records(one) if it in place]
            assert not before or not behind or max(before) < min(behind)


def test_numbers_fit() -> None:
    assert RECORDS * 10 < LAST < WIDTH
