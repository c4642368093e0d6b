"""The new position of a query in each shard."""

from __future__ import annotations

from datetime import timedelta

import pytest

from python.tests.migrate.streams import NOW, TIMES, shard, shard_id
from spark_kinesis import CheckpointError
from spark_kinesis._offsets import Progress, ShardOffset, StreamOffset
from spark_kinesis.tools.rewinding.plan import Target, rewound, settled

CREATED = "2026-01-01T00:00:00Z"
HOUR_AGO = Target(progress=Progress.AT, time=NOW - timedelta(hours=1))
LATEST = Target(progress=Progress.AT)
OLDEST = Target(progress=Progress.TRIM_HORIZON)
# 0 was split into 1 and 2, 2 and 3 were merged into 4.
LISTED = [
    shard(0, is_open=False),
    shard(1, 0),
    shard(2, 0, is_open=False),
    shard(3, is_open=False),
    shard(4, 2, 3),
]


def after(number: int, *waits_for: int) -> ShardOffset:
    return ShardOffset(
        progress=Progress.AFTER,
        sequence_number=number,
        complete_as_of=NOW,
        waits_for=tuple(map(shard_id, waits_for)),
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


def moved(target: Target, *chosen: int) -> dict[int, str]:
    """The place in each shard, and the shards that it waits for."""
    new = rewound(OLD, LISTED, target, TIMES, [shard_id(it) for it in chosen])
    assert new.created == CREATED
    return {
        int(name[-4:]): " ".join(
            [it.text.partition("@")[0], *(parent[-1] for parent in it.waits_for)]
        )
        for name, it in new.shards.items()
    }


def test_an_old_offset_is_settled() -> None:
    new = settled(OLD)
    assert [name[-1] for name in new.shards] == ["1", "3", "4"]
    assert new.shards[shard_id(4)].waits_for == (shard_id(3),)
    assert all(it.first is None for it in new.shards.values())


def test_all_shards_move_to_a_time_and_wait_for_their_parents() -> None:
    at = "at:2026-01-02T02:04:05Z"
    assert moved(HOUR_AGO) == {0: at, 1: f"{at} 0", 2: f"{at} 0", 3: at, 4: f"{at} 2 3"}


def test_all_shards_move_to_the_oldest_record() -> None:
    assert moved(OLDEST) == {
        0: "trim_horizon",
        1: "trim_horizon 0",
        2: "trim_horizon 0",
        3: "trim_horizon",
        4: "trim_horizon 2 3",
    }


@pytest.mark.parametrize(("hours", "is_kept"), [(23, True), (24, False)])
@pytest.mark.parametrize("target", [OLDEST, Target(progress=Progress.AFTER, sequence_number=50)])
def test_a_shard_that_stays_keeps_its_time_unless_it_has_expired(
    target: Target, hours: int, *, is_kept: bool
) -> None:
    read = NOW - timedelta(hours=hours)
    old = ShardOffset(
        progress=target.progress, sequence_number=target.sequence_number, complete_as_of=read
    )
    offset = StreamOffset(created=CREATED, shards={shard_id(0): old})
    new = rewound(offset, [shard(0)], target, TIMES, [shard_id(0)]).shards[shard_id(0)]
    assert new.place == old.place
    assert new.complete_as_of == (read if is_kept else None)


def test_the_newest_record_needs_open_shards_only() -> None:
    now = "at:2026-01-02T03:04:05Z"
    assert moved(LATEST) == {1: now, 4: now}


def test_a_shard_moves_with_its_descendants() -> None:
    assert moved(OLDEST, 2) == {1: "150", 2: "trim_horizon", 3: "350", 4: "trim_horizon 2 3"}
    after_it = Target(progress=Progress.AFTER, sequence_number=250)
    assert moved(after_it, 2) == {1: "150", 2: "250", 3: "350", 4: "trim_horizon 2 3"}
    at = "at:2026-01-02T02:04:05Z"
    assert moved(HOUR_AGO, 0) == {0: at, 1: f"{at} 0", 2: f"{at} 0", 3: "350", 4: f"{at} 2 3"}


def test_a_shard_moves_to_the_newest_record_alone() -> None:
    assert moved(LATEST, 3) == {
        1: "150",
        3: "at:2026-01-02T03:04:05Z",
        4: "trim_horizon 3",
    }


def test_a_shard_that_was_read_to_its_end_does_not_move_to_the_newest_record() -> None:
    # The query has read 0 and 1, and reads 2. At the end of 0, it would add 1 at its beginning.
    listed = [shard(0, is_open=False), shard(1, 0, is_open=False), shard(2, 1)]
    old = StreamOffset(created=CREATED, shards={shard_id(2): after(250)})
    for finished in (0, 1):
        with pytest.raises(CheckpointError, match=f"read shard {shard_id(finished)} to its end"):
            rewound(old, listed, LATEST, TIMES, [shard_id(finished)])
    begun = StreamOffset(created=CREATED, shards={shard_id(0): after(50)})
    for later in (0, 1, 2):
        new = rewound(begun, listed, LATEST, TIMES, [shard_id(later)])
        assert set(new.shards) == {shard_id(0), shard_id(later)}


@pytest.mark.parametrize(
    ("target", "chosen", "says"),
    [
        (OLDEST, (9,), "no shard shardId-000000000009"),
        (Target(progress=Progress.AFTER, sequence_number=150), (), "name this shard with --shard"),
        (Target(progress=Progress.AFTER, sequence_number=150), (1, 3), "and no other"),
        (Target(progress=Progress.AFTER, sequence_number=99), (1,), "not in .*from 100"),
        (Target(progress=Progress.FROM, sequence_number=400), (3,), "not in .*from 300 to 399"),
        (Target(progress=Progress.AT, time=NOW + timedelta(seconds=1.1)), (), "in the future"),
    ],
)
def test_impossible_targets_are_refused(target: Target, chosen: tuple[int, ...], says: str) -> None:
    with pytest.raises(CheckpointError, match=says):
        moved(target, *chosen)
