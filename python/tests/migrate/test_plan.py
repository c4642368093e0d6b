"""Where a query begins to read each shard after another consumer."""

from __future__ import annotations

from datetime import timedelta
from typing import TYPE_CHECKING

import pytest

from python.tests.migrate.streams import (
    LATEST,
    NOW,
    SHARD_END,
    TIMES,
    TRIM_HORIZON,
    after,
    at,
    shard,
    shard_id,
)
from spark_kinesis import MigrationError
from spark_kinesis._offsets import Progress
from spark_kinesis.tools.handover.positions import Stop
from spark_kinesis.tools.handover.takeover import Joint, plan_start

if TYPE_CHECKING:
    from spark_kinesis.tools.facts.streams import StreamShard

SPLIT = [shard(0, is_open=False), shard(1, 0), shard(2, 0)]


def planned(
    listed: list[StreamShard], stops: dict[int, Stop], others: Stop | None = None
) -> list[Joint]:
    named = {shard_id(number): it for number, it in stops.items()}
    return plan_start("orders", listed, named, TIMES, others)


def texts(plan: list[Joint]) -> dict[int, str]:
    """The place in each shard, without the time after `@`, and the shards that it waits for."""
    return {
        int(it.shard.id[-4:]): " ".join(
            [it.offset.text.partition("@")[0], *(name[-1] for name in it.offset.waits_for)]
        )
        for it in plan
    }


def test_each_kind_of_position_has_its_progress() -> None:
    listed = [shard(number) for number in range(4)]
    stops = {0: TRIM_HORIZON, 1: at(1), 2: after(250)}
    stops |= {3: Stop(progress=Progress.FROM, sequence_number=350)}
    plan = planned(listed, stops)
    assert texts(plan) == {
        0: "trim_horizon",
        1: "at:2026-01-02T02:04:05Z",
        2: "250",
        3: "from:350",
    }
    assert [it.offset.complete_as_of for it in plan][:2] == [None, NOW - timedelta(hours=1)]


def test_a_position_that_says_nothing_needs_a_choice() -> None:
    stops = {0: LATEST, 1: after(150)}
    with pytest.raises(MigrationError, match=rf"{shard_id(0)}\..*--begin trim_horizon, latest"):
        planned([shard(0), shard(1)], stops)
    now = "at:2026-01-02T03:04:05Z"
    assert texts(planned([shard(0), shard(1)], stops, LATEST)) == {0: now, 1: "150"}
    assert texts(planned([shard(0), shard(1)], stops, at(1)))[0] == "at:2026-01-02T02:04:05Z"


def test_a_time_before_the_horizon_is_not_complete() -> None:
    (start,) = planned([shard(0)], {0: at(72)})
    assert start.offset.progress is Progress.AT
    assert start.offset.complete_as_of is None


def test_children_wait_for_a_parent_that_was_not_read_to_its_end() -> None:
    assert texts(planned(SPLIT, {0: after(50)})) == {
        0: "50",
        1: "trim_horizon 0",
        2: "trim_horizon 0",
    }


def test_children_of_a_finished_parent_begin_at_once() -> None:
    assert texts(planned(SPLIT, {0: SHARD_END})) == {1: "trim_horizon", 2: "trim_horizon"}


def test_a_parent_without_a_position_was_read_if_its_children_have_one() -> None:
    assert texts(planned(SPLIT, {1: after(150), 2: TRIM_HORIZON})) == {1: "150", 2: "trim_horizon"}


def test_a_sibling_without_a_position_is_refused_or_begins_where_the_user_says() -> None:
    with pytest.raises(MigrationError, match="--begin trim_horizon") as error:
        planned(SPLIT, {1: after(150)})
    assert shard_id(2) in str(error.value)
    assert texts(planned(SPLIT, {1: after(150)}, TRIM_HORIZON)) == {1: "150", 2: "trim_horizon"}
    assert texts(planned(SPLIT, {1: after(150)}, LATEST))[2].startswith("at:")


def test_a_finished_child_of_an_unfinished_parent_is_not_read_again() -> None:
    listed = [shard(0, is_open=False), shard(1, 0, is_open=False), shard(2, 0), shard(3, 1)]
    plan = planned(listed, {0: after(50), 1: SHARD_END, 2: after(250)})
    assert texts(plan) == {0: "50", 1: "199 0", 2: "250 0", 3: "trim_horizon 1"}


def test_a_shard_between_an_unfinished_one_and_a_named_one_is_read() -> None:
    listed = [shard(0, is_open=False), shard(1, 0, is_open=False), shard(2, 1)]
    assert texts(planned(listed, {0: after(50), 2: TRIM_HORIZON}))[1] == "trim_horizon 0"


@pytest.mark.parametrize(
    ("stops", "says"),
    [
        ({7: after(750)}, "name none of the shards of stream orders"),
        ({0: after(150)}, "sequence number 150 is not in .*0, .*from 0 to 99"),
        ({0: SHARD_END, 1: after(50)}, "50 is not in .*1, .*from 100\\."),
        ({1: SHARD_END, 2: TRIM_HORIZON}, "read to its end, but it is open"),
    ],
)
def test_positions_of_another_stream_are_refused(stops: dict[int, Stop], says: str) -> None:
    with pytest.raises(MigrationError, match=says):
        planned(SPLIT, stops)


def test_a_long_lineage_is_no_problem() -> None:
    chain = [shard(0, is_open=False)]
    chain += [shard(number, number - 1, is_open=number == 2999) for number in range(1, 3000)]
    assert len(planned(chain, {0: after(50)})) == 3000
