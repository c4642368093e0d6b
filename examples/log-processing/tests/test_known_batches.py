"""Readers of the progress count each batch once, whatever is repeated and restarted."""

from __future__ import annotations

from typing import Any

from batches import NOW, batch, progress_item
from hypothesis import given
from hypothesis import strategies as st

from log_processing.demo.batches import Batches
from log_processing.progress import CLOCKS_DIFFER_MS, KnownBatches, Progress

runs = st.builds(
    lambda query, number, age, bad: batch(number, NOW - age, query=query, bad=bad),
    st.sampled_from(["old", "new"]),
    st.integers(0, 5),
    st.integers(0, 600),
    st.integers(0, 9),
)


def identity(done: Progress) -> tuple[str, int]:
    return done.query, done.batch


@given(st.lists(st.lists(runs)))
def test_each_batch_counts_once_with_its_last_repeat(reads: list[list[Progress]]) -> None:
    known = KnownBatches()
    for found in reads:
        known.add(found)
    seen = [it for found in reads for it in found]
    shown = known.in_order
    assert len(shown) == len(set(map(identity, seen)))
    assert [it.time for it in shown] == sorted(it.time for it in shown)
    for it in shown:
        assert it in seen
        assert it.time == max(one.time for one in seen if identity(one) == identity(it))


@given(st.lists(runs, min_size=1), st.integers(0, 600))
def test_the_newest_batch_is_never_forgotten(found: list[Progress], age: int) -> None:
    known = KnownBatches()
    known.add(found)
    before = known.in_order
    known.forget_before((NOW - age) * 1000)
    recent = [it for it in before if it.time >= (NOW - age) * 1000]
    assert known.in_order == (recent or before[-1:])
    assert known.read_from_ms == before[-1].time - CLOCKS_DIFFER_MS


def test_the_trial_counts_each_batch_once(dynamodb: Any) -> None:
    def put(done: Progress) -> None:
        dynamodb.put_item(TableName="logs", Item=progress_item(done))

    batches = Batches(dynamodb, "logs", "logs")
    batches.read()
    assert batches.bad == 0
    put(batch(7, NOW - 1, bad=1))
    put(batch(8, NOW, bad=10))
    put(batch(9, NOW, bad=1000, query="other"))
    batches.read()
    assert batches.bad == 1011
    # The job was killed before Spark noted the batch, and its new machine has another clock.
    put(batch(8, NOW + 1, bad=20))
    put(batch(9, NOW - 59, bad=100))
    put(batch(0, NOW + 2, query="new checkpoint", bad=5000))
    batches.read()
    assert batches.bad == 6121
