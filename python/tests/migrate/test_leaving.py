"""The leases of an application that continues after a query."""

from __future__ import annotations

from dataclasses import replace
from datetime import timedelta

import pytest

from python.tests.migrate.streams import NOW, TIMES, aggregate, shard, shard_id
from spark_kinesis import MigrationError
from spark_kinesis._offsets import Progress, ShardOffset
from spark_kinesis.tools.facts.losses import loss_at
from spark_kinesis.tools.facts.records import Anchor, FirstRecords, StreamRecord, Surroundings
from spark_kinesis.tools.handover.handing_back import HandBack, new_leases
from spark_kinesis.tools.handover.leases import (
    Lease,
    LeaseKey,
    NewLease,
    new_item,
    read_lease,
    require_stopped,
)

NOTHING = FirstRecords(records=(), is_complete=True)
OLDEST = ShardOffset(progress=Progress.TRIM_HORIZON)
AT = ShardOffset(progress=Progress.AT, time="2026-01-02T03:04:05Z")
FROM = ShardOffset(progress=Progress.FROM, sequence_number=650)
# 0 was split into 1 and 2. 1 was split into 3 and 4. 5 and 6 are alone.
LISTED = [
    shard(0, is_open=False),
    shard(1, 0, is_open=False),
    shard(2, 0),
    shard(3, 1),
    shard(4, 1),
    shard(5),
    shard(6),
]


def words(offset: dict[int, ShardOffset]) -> dict[int, tuple[str, int]]:
    positions = {shard_id(number): it for number, it in offset.items()}
    named = StreamRecord(sequence_number=250, arrived=NOW, key="k", data=aggregate(4))
    there = Surroundings(anchor=Anchor.THERE, named=named, unread=NOTHING)
    gone = Surroundings(anchor=Anchor.GONE, named=None, unread=NOTHING)
    around = {shard_id(2): there, shard_id(6): gone}
    return {
        int(it.shard.id[-4:]): (it.checkpoint, it.sub)
        for it in new_leases(positions, LISTED, around)
    }


def test_each_shard_has_a_lease() -> None:
    after = ShardOffset(progress=Progress.AFTER, sequence_number=150)
    whole = replace(after, sequence_number=250)
    assert words({1: after, 2: whole, 5: AT, 6: FROM}) == {
        0: ("SHARD_END", 0),
        1: ("150", 0),
        2: ("250", 3),
        3: ("TRIM_HORIZON", 0),
        4: ("TRIM_HORIZON", 0),
        5: ("AT_TIMESTAMP", 0),
        6: ("TRIM_HORIZON", 0),
    }


def test_the_application_begins_at_the_earliest_time() -> None:
    times = [NOW, NOW - timedelta(hours=1)]
    leases = [NewLease(shard=shard(5), checkpoint="AT_TIMESTAMP", begins=it) for it in times]
    made = HandBack(arn="arn", prefix="", leases=leases, losses=[])
    assert made.begins == NOW - timedelta(hours=1)
    assert replace(made, leases=[NewLease(shard=shard(5), checkpoint="17")]).begins is None


def test_a_new_lease_has_the_form_of_the_library() -> None:
    lease = NewLease(shard=shard(3, 1), checkpoint="350", sub=2)
    assert read_lease(new_item(lease, "")) == Lease(
        key=LeaseKey(shard=shard_id(3)), checkpoint="350", sub=2, counter=0, owner=None
    )
    made = new_item(lease, "1:orders:1767323045:")
    assert made["leaseKey"] == {"S": f"1:orders:1767323045:{shard_id(3)}"}
    assert made["streamName"] == {"S": "1:orders:1767323045"}
    assert made["parentShardId"] == {"SS": [shard_id(1)]}
    assert "parentShardId" not in new_item(NewLease(shard=shard(0), checkpoint="17"), "")


@pytest.mark.parametrize(
    ("state", "hours", "says"),
    [
        (Anchor.THERE, 30, "up to 2025-12-31T21:04:05Z"),
        (Anchor.THERE, 1, None),
        (Anchor.NONE, 1, None),
        (Anchor.NONE, 30, "up to 2025-12-31T21:04:05Z"),
        (Anchor.GONE, 1, None),
        (Anchor.GONE, 30, "may have expired"),
        (Anchor.GONE, None, "record 50 is gone"),
        (Anchor.UNKNOWN, 1, None),
        (Anchor.UNKNOWN, 30, "up to 2025-12-31T21:04:05Z"),
        (Anchor.UNKNOWN, None, "no record was found from 50 on"),
    ],
)
def test_what_the_records_around_a_position_prove(
    state: Anchor, hours: int | None, says: str | None
) -> None:
    read = None if hours is None else NOW - timedelta(hours=hours)
    offset = ShardOffset(progress=Progress.AFTER, sequence_number=50, complete_as_of=read)
    nothing = FirstRecords(records=(), is_complete=True)
    loss = loss_at(offset, Surroundings(anchor=state, named=None, unread=nothing), TIMES)
    assert (loss is None) == (says is None)
    assert says is None or says in str(loss)


@pytest.mark.parametrize(("hours", "is_lost"), [(1, False), (30, True)])
def test_a_record_that_is_there_dates_its_position(hours: int, *, is_lost: bool) -> None:
    arrived = NOW - timedelta(hours=hours)
    named = StreamRecord(sequence_number=50, arrived=arrived, key="k", data=b"")
    nothing = FirstRecords(records=(), is_complete=True)
    there = Surroundings(anchor=Anchor.THERE, named=named, unread=nothing)
    offset = ShardOffset(progress=Progress.AFTER, sequence_number=50)
    assert (loss_at(offset, there, TIMES) is not None) is is_lost


@pytest.mark.parametrize(
    ("state", "says"),
    [(Anchor.GONE, "record 650 is gone"), (Anchor.UNKNOWN, "no record was found from 650 on")],
)
def test_a_first_record_that_is_gone_was_not_read(state: Anchor, says: str) -> None:
    nothing = FirstRecords(records=(), is_complete=state is Anchor.GONE)
    around = Surroundings(anchor=state, named=None, unread=nothing)
    fresh = replace(FROM, complete_as_of=NOW)
    assert says in str(loss_at(fresh, around, TIMES))


def lease(number: int, counter: int) -> Lease:
    key = LeaseKey(shard=shard_id(number))
    return Lease(key=key, checkpoint="17", sub=0, counter=counter, owner="worker")


def test_an_application_that_runs_is_noticed() -> None:
    require_stopped("app", [lease(0, 1)], [lease(0, 1)])
    for after in ([lease(0, 2)], [lease(0, 1), lease(1, 0)]):
        with pytest.raises(MigrationError, match=r"is running: .*Its owner is worker"):
            require_stopped("app", [lease(0, 1)], after)
