"""The new position of a query in each shard, and what the move loses."""

from __future__ import annotations

from datetime import timedelta
from typing import TYPE_CHECKING

import pytest

from python.tests.migrate.streams import NOW, TIMES, shard, shard_id
from spark_kinesis import CheckpointError
from spark_kinesis._offsets import Progress, ShardOffset, StreamOffset
from spark_kinesis._times import instant
from spark_kinesis.tools.changes import LATEST, ShardPlan
from spark_kinesis.tools.facts.losses import SHARD_EXPIRED
from spark_kinesis.tools.rewinding.plan import rewound, settled, shard_plans

if TYPE_CHECKING:
    from spark_kinesis.tools.facts.streams import StreamShard

CREATED = "2026-01-01T00:00:00Z"
OLDEST = ShardOffset(progress=Progress.TRIM_HORIZON)
# 0 was split into 1 and 2, 2 and 3 were merged into 4.
LISTED = [
    shard(0, is_open=False),
    shard(1, 0),
    shard(2, 0, is_open=False),
    shard(3, is_open=False),
    shard(4, 2, 3),
]


def ago(hours: float) -> ShardOffset:
    return ShardOffset(progress=Progress.AT, time=instant(NOW - timedelta(hours=hours)))


def after(number: int, hours: float = 0) -> ShardOffset:
    return ShardOffset(
        progress=Progress.AFTER,
        sequence_number=number,
        complete_as_of=NOW - timedelta(hours=hours),
        first=number,
    )


OLD = StreamOffset(
    created=CREATED,
    shards={
        shard_id(1): after(150),
        shard_id(2): ShardOffset(progress=Progress.FINISHED),
        shard_id(3): after(350),
        shard_id(4): ShardOffset(
            progress=Progress.TRIM_HORIZON, waits_for=(shard_id(2), shard_id(3))
        ),
    },
)


def moved(target: ShardOffset) -> dict[int, str]:
    """The place in each shard, and the shards that it waits for."""
    new = rewound(OLD, LISTED, target, TIMES)
    assert new.created == CREATED
    return {
        int(name[-4:]): " ".join(
            [it.text.partition("@")[0], *(parent[-1] for parent in it.waits_for)]
        )
        for name, it in new.shards.items()
    }


def test_an_old_offset_is_settled() -> None:
    new = settled(OLD)
    assert [name[-1] for name in new] == ["1", "3", "4"]
    assert new[shard_id(4)].waits_for == (shard_id(3),)
    assert all(it.first is None for it in new.values())


def test_all_shards_move_to_a_time_and_wait_for_their_parents() -> None:
    at = "at:2026-01-02T02:04:05Z"
    assert moved(ago(1)) == {0: at, 1: f"{at} 0", 2: f"{at} 0", 3: at, 4: f"{at} 2 3"}


def test_all_shards_move_to_the_oldest_record() -> None:
    assert moved(OLDEST) == {
        0: "trim_horizon",
        1: "trim_horizon 0",
        2: "trim_horizon 0",
        3: "trim_horizon",
        4: "trim_horizon 2 3",
    }


def test_the_newest_record_needs_open_shards_only() -> None:
    now = "at:2026-01-02T03:04:05Z"
    assert moved(LATEST) == {1: now, 4: now}


@pytest.mark.parametrize(("hours", "is_kept"), [(23, True), (24, False)])
def test_a_shard_that_stays_keeps_its_time_unless_it_has_expired(
    hours: int, *, is_kept: bool
) -> None:
    read = NOW - timedelta(hours=hours)
    old = ShardOffset(progress=Progress.TRIM_HORIZON, complete_as_of=read)
    offset = StreamOffset(created=CREATED, shards={shard_id(0): old})
    new = rewound(offset, [shard(0)], OLDEST, TIMES).shards[shard_id(0)]
    assert (new.place, new.complete_as_of) == (old.place, read if is_kept else None)


def test_a_time_in_the_future_is_refused() -> None:
    rewound(OLD, LISTED, ago(-1 / 3600), TIMES)
    with pytest.raises(CheckpointError, match="2026-01-02T03:04:07Z is in the future"):
        rewound(OLD, LISTED, ago(-2 / 3600), TIMES)


def plans(
    listed: list[StreamShard], old: dict[int, ShardOffset], target: ShardOffset
) -> dict[int, ShardPlan]:
    before = StreamOffset(created=CREATED, shards={shard_id(it): at for it, at in old.items()})
    new = rewound(before, listed, target, TIMES)
    found = shard_plans("arn", {it.id: it for it in listed}, before, new, TIMES)
    return {int(it.shard[-4:]): it for it in found}


def test_the_shards_that_move() -> None:
    listed = [shard(0, is_open=False), shard(1, 0), shard(2)]
    found = plans(listed, {0: after(50), 2: OLDEST}, OLDEST)
    assert {number: it.words for number, it in found.items()} == {0: "from 50 to trim_horizon"}
    found = plans(listed, {1: after(150), 2: after(250)}, ago(1))
    at = "at:2026-01-02T02:04:05Z"
    assert {number: it.words for number, it in found.items()} == {
        0: f"from read to its end to {at}",
        1: f"from 150 to {at}",
        2: f"from 250 to {at}",
    }
    assert plans(listed, {0: after(50), 2: after(250)}, LATEST)[0].words == (
        "from 50 to not read any more"
    )
    assert all(it.loss is None for it in found.values())


@pytest.mark.parametrize(
    ("old", "target", "loss"),
    [
        (after(50, 1), ago(25), "records that arrived between 2026-01-01T02:04:05Z and"),
        (after(50, 25), ago(1), "the shard was read up to 2026-01-01T02:04:05Z"),
        (after(50, 25), OLDEST, "the shard was read up to 2026-01-01T02:04:05Z"),
        (after(50, 1), ago(23), None),
        (after(50, 1), OLDEST, None),
    ],
)
def test_records_that_have_expired_are_a_loss(
    old: ShardOffset, target: ShardOffset, loss: str | None
) -> None:
    found = plans([shard(0)], {0: old}, target)[0]
    assert (found.loss is None) == (loss is None)
    assert str(found.loss).startswith(loss or "None")


def test_a_shard_that_is_no_longer_listed_is_lost() -> None:
    found = plans([shard(1, 0)], {0: after(50), 1: OLDEST}, LATEST)
    assert found[0].loss == SHARD_EXPIRED
