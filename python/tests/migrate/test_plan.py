"""Where a query begins to read each shard after another consumer."""

from __future__ import annotations

from dataclasses import replace
from datetime import timedelta
from typing import TYPE_CHECKING

import pytest

from python.tests.migrate.streams import NOW, TIMES, after, shard, shard_id, stop
from spark_kinesis import MigrationError
from spark_kinesis._offsets import Progress
from spark_kinesis.tools.handover.plan import StartPlan, plan_start
from spark_kinesis.tools.handover.positions import SHARD_END, TRIM_HORIZON, Stop, StopKind

if TYPE_CHECKING:
    from spark_kinesis.tools.facts.streams import StreamShard

SPLIT = [shard(0, is_open=False), shard(1, 0), shard(2, 0)]


def planned(
    listed: list[StreamShard], stops: dict[int, Stop], others: Stop | None = None
) -> StartPlan:
    named = {shard_id(number): it for number, it in stops.items()}
    return plan_start("orders", listed, named, TIMES, others)


def texts(plan: StartPlan) -> dict[int, str]:
    """The place in each shard, without the time after `@`, and the shards that it waits for."""
    return {
        int(it.shard.id[-4:]): " ".join(
            [it.offset.text.partition("@")[0], *(name[-1] for name in it.offset.waits_for)]
        )
        for it in plan.starts
    }


def test_each_kind_of_position_has_its_progress() -> None:
    kinds = [StopKind.TRIM_HORIZON, StopKind.LATEST, StopKind.AT_TIME]
    listed = [shard(number) for number in range(5)]
    stops = {number: stop(kind) for number, kind in enumerate(kinds)}
    stops |= {3: after(350), 4: Stop(kind=StopKind.AT, sequence_number=450)}
    plan = planned(listed, stops)
    assert texts(plan) == {
        0: "trim_horizon",
        1: "at:2026-01-02T03:04:05Z",
        2: "at:2026-01-02T02:04:05Z",
        3: "350",
        4: "from:450",
    }
    assert [it.offset.complete_as_of for it in plan.starts][:3] == [
        None,
        NOW,
        NOW - timedelta(hours=1),
    ]


def test_a_time_before_the_horizon_is_no_loss() -> None:
    old = Stop(kind=StopKind.AT_TIME, time=NOW - timedelta(days=3))
    (start,) = planned([shard(0)], {0: old}).starts
    assert start.offset.progress is Progress.AT
    assert start.offset.complete_as_of is None


def test_children_wait_for_a_parent_that_was_not_read_to_its_end() -> None:
    assert texts(planned(SPLIT, {0: after(50)})) == {
        0: "50",
        1: "trim_horizon 0",
        2: "trim_horizon 0",
    }


def test_children_of_a_finished_parent_begin_at_once() -> None:
    plan = planned(SPLIT, {0: SHARD_END})
    assert texts(plan) == {1: "trim_horizon", 2: "trim_horizon"}
    assert plan.read == (shard_id(0),)


def test_a_parent_without_a_position_was_read_if_its_children_have_one() -> None:
    assert texts(planned(SPLIT, {1: after(150), 2: TRIM_HORIZON})) == {1: "150", 2: "trim_horizon"}


def test_a_sibling_without_a_position_is_refused_or_begins_where_the_user_says() -> None:
    with pytest.raises(MigrationError, match="--others trim_horizon") as error:
        planned(SPLIT, {1: after(150)})
    assert shard_id(2) in str(error.value)
    assert texts(planned(SPLIT, {1: after(150)}, TRIM_HORIZON)) == {1: "150", 2: "trim_horizon"}
    assert texts(planned(SPLIT, {1: after(150)}, stop(StopKind.LATEST)))[2].startswith("at:")


def test_a_finished_child_of_an_unfinished_parent_is_not_read_again() -> None:
    listed = [shard(0, is_open=False), shard(1, 0, is_open=False), shard(2, 0), shard(3, 1)]
    plan = planned(listed, {0: after(50), 1: SHARD_END, 2: after(250)})
    assert texts(plan) == {0: "50", 1: "199 0", 2: "250 0", 3: "trim_horizon 1"}


def test_a_shard_between_an_unfinished_one_and_a_named_one_is_read() -> None:
    listed = [shard(0, is_open=False), shard(1, 0, is_open=False), shard(2, 1)]
    assert texts(planned(listed, {0: after(50), 2: TRIM_HORIZON}))[1] == "trim_horizon 0"


def test_an_expired_shard_is_lost_unless_it_was_read_to_its_end() -> None:
    listed = [shard(1, 0), shard(2, 0)]
    plan = planned(listed, {0: after(50), 1: TRIM_HORIZON})
    assert dict(plan.expired) == {shard_id(0): after(50)}
    assert texts(plan) == {1: "trim_horizon", 2: "trim_horizon"}
    assert not planned(listed, {0: SHARD_END, 1: TRIM_HORIZON}).expired


@pytest.mark.parametrize(
    ("stops", "says"),
    [
        ({7: after(750)}, "name none of the 3 shards of stream orders"),
        ({}, "They name no shard"),
        ({0: after(150)}, "sequence number 150 is not in this shard, .*from 0 to 99"),
        ({0: SHARD_END, 1: after(50)}, "50 is not in this shard, .*from 100\\."),
        ({1: SHARD_END, 2: TRIM_HORIZON}, "read to its end, but it is open"),
    ],
)
def test_positions_of_another_stream_are_refused(stops: dict[int, Stop], says: str) -> None:
    with pytest.raises(MigrationError, match=says):
        planned(SPLIT, stops)


def test_a_long_lineage_is_no_problem() -> None:
    chain = [shard(0, is_open=False)]
    chain += [shard(number, number - 1, is_open=number == 2999) for number in range(1, 3000)]
    plan = planned(chain, {0: after(50)})
    assert len(plan.starts) == 3000
    assert replace(plan, starts=()) == StartPlan(starts=(), read=(), expired={})
