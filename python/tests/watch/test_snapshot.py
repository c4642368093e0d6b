"""From facts to a snapshot: what several shards mean together."""

from __future__ import annotations

from dataclasses import replace
from datetime import timedelta

import pytest

from spark_kinesis._offsets import Progress, ShardOffset
from spark_kinesis._watch.forecast import LEAST_TOLERANCE, Outlook, Step, tolerance
from spark_kinesis._watch.page import History, page
from spark_kinesis._watch.snapshot import Facts, ShardFacts, snapshot

from .given import ARN, NOW, after, ago, facts, key, name, steps
from .test_terminal import BATCH, shard


def spaced(gap: float) -> tuple[Step, ...]:
    """Three micro-batches at a distance in seconds."""
    return tuple(
        Step(at=ago(gap * age), number=2 - age, complete={key(0): ago(gap * age)})
        for age in (2, 1, 0)
    )


def test_three_micro_batches_are_no_lag() -> None:
    assert tolerance(()) == LEAST_TOLERANCE
    assert tolerance(spaced(2)) == LEAST_TOLERANCE
    assert tolerance(spaced(600)) == timedelta(minutes=30)
    slow = snapshot(facts({0: shard(1700)}, steps=spaced(600)))
    assert slow.forecast.outlook is Outlook.CAUGHT_UP
    assert snapshot(facts({0: shard(1900)}, steps=spaced(600))).forecast.outlook is not (
        Outlook.CAUGHT_UP
    )


@pytest.mark.parametrize(
    ("status", "is_running", "late", "expected"),
    [
        (None, False, 600, True),
        (None, False, 0, False),  # nothing to do
        (None, True, 600, False),  # busy
        ("Waiting for next trigger", False, 600, False),  # Spark says that it is fine
    ],
)
def test_a_micro_batch_is_overdue_if_records_wait_and_nobody_explains_it(
    status: str | None, is_running: bool, late: float, expected: bool
) -> None:
    idle = ShardFacts(position=after(5, ago(700)), lag=timedelta())
    way = tuple(replace(it, at=it.at - timedelta(hours=1)) for it in steps(1.0, 0))
    found = facts(
        {0: shard(late) if late else idle}, steps=way, batch=replace(BATCH, is_running=is_running)
    )
    batch = snapshot(replace(found, status=status)).batch
    assert batch is not None
    assert batch.is_overdue is expected


def test_shards_of_which_nothing_is_known_count_like_the_others() -> None:
    unmeasured = ShardFacts(position=after(5, ago(100)), lag=timedelta(seconds=100))
    found = snapshot(facts({0: shard(600), 1: unmeasured}, steps=steps(1.0, 0, 1)))
    # 600 s and 100 s, with one record per second each.
    assert (found.totals.records, found.totals.is_counted) == (700, False)
    assert found.totals.measured == 1
    start = ShardOffset(
        progress=Progress.TRIM_HORIZON, waits_for=(name(0),), complete_as_of=ago(600)
    )
    waits = ShardFacts(position=start, lag=timedelta(seconds=600))
    child = snapshot(facts({0: shard(600), 1: waits}, steps=steps(1.0, 0)))
    assert (child.totals.records, child.totals.waiting) == (600, 1)
    unknown = snapshot(facts({0: shard(600), 1: ShardFacts(position=after(5))}))
    assert unknown.totals.records is None


def test_rates_of_a_whole_source_are_shared_by_its_shards() -> None:
    late = timedelta(seconds=100)
    two = {it: ShardFacts(position=after(5, ago(100)), lag=late) for it in (0, 1)}
    found = replace(facts(two, steps=steps(2.0, 0, 1)), processed=40)
    totals = snapshot(found).totals
    assert totals.arriving == pytest.approx(20)  # it reads two seconds per second
    assert totals.records == 2000


def test_two_streams_are_told_apart_and_their_names_are_text() -> None:
    other = "arn:aws:kinesis:eu-west-1:123456789012:stream/<b>refunds"
    one = facts({0: shard(600)}, steps=steps(1.0, 0))
    both = replace(one, shards={**one.shards, (other, name(0)): shard(60)})
    found = snapshot(both)
    assert [(it.stream, it.shard) for it in found.shards] == [
        ("orders", name(0)),
        ("<b>refunds", name(0)),
    ]
    assert set(found.trees) == {"orders", "<b>refunds"}
    html = page(History(found), "1")
    assert "<td>&lt;b&gt;refunds/0</td>" in html
    assert "<b>" not in html


def test_each_stream_has_its_retention_period() -> None:
    found: Facts = facts({0: shard(7200)}, steps=steps(1.0, 0), retention=timedelta(hours=1))
    assert snapshot(found).loses_data
    assert not snapshot(replace(found, retention={ARN: timedelta(days=7)})).loses_data
    assert snapshot(replace(found, at=NOW + timedelta(days=8), retention={})).loses_data is False


def test_a_query_whose_shards_are_all_finished_has_no_rate_per_shard() -> None:
    finished = ShardFacts(position=ShardOffset(progress=Progress.FINISHED), lag=timedelta())
    found = snapshot(replace(facts({0: finished}, steps=steps(1.0, 0)), processed=40))
    assert (found.shards, found.totals.records) == ((), None)


def test_streams_of_two_accounts_with_one_name_are_told_apart() -> None:
    other = ARN.replace("123456789012", "999999999999")
    alone = facts({0: shard(600)})
    both = replace(alone, shards={**alone.shards, (other, name(0)): shard(5)})
    found = snapshot(both)
    assert [it.stream for it in found.shards] == [ARN, other]
    assert {it: len(nodes) for it, nodes in found.trees.items()} == {ARN: 1, other: 1}
    assert [it.stream for it in snapshot(alone).shards] == ["orders"]
