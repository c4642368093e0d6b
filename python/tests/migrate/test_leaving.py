"""The leases of an application that continues after a query."""

from __future__ import annotations

from dataclasses import replace
from datetime import timedelta

import pytest

from python.tests.migrate.streams import NOW, TIMES, aggregate, shard, shard_id
from spark_kinesis import MigrationError
from spark_kinesis._offsets import Progress, ShardOffset
from spark_kinesis.tools.facts.losses import loss_at
from spark_kinesis.tools.facts.records import Around, StreamRecord
from spark_kinesis.tools.handover.handing_back import new_leases
from spark_kinesis.tools.handover.leases import (
    Lease,
    NewLease,
    new_item,
    read_lease,
    require_stopped,
)

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
    named = StreamRecord(sequence_number=250, arrived=NOW, data=aggregate(4))
    around = {shard_id(2): Around(named=named), shard_id(6): Around(is_missing=True)}
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


def test_a_new_lease_has_the_form_of_the_library() -> None:
    lease = NewLease(shard=shard(3, 1), checkpoint="350", sub=2)
    read = read_lease(new_item(lease))
    assert read is not None
    assert (read.key, read.checkpoint, read.sub, read.counter) == (shard_id(3), "350", 2, 0)
    made = new_item(replace(lease, prefix="1:orders:1767323045:"))
    assert made["leaseKey"] == {"S": f"1:orders:1767323045:{shard_id(3)}"}
    assert made["streamName"] == {"S": "1:orders:1767323045"}
    assert made["parentShardId"] == {"SS": [shard_id(1)]}
    assert "parentShardId" not in new_item(NewLease(shard=shard(0), checkpoint="17"))


NAMED = StreamRecord(sequence_number=50, arrived=NOW, data=b"")
THERE, GONE = Around(named=NAMED), Around(is_missing=True)
UNKNOWN = Around(is_missing=True, is_complete=False)


@pytest.mark.parametrize(
    ("found", "hours", "says"),
    [
        (THERE, 30, "up to 2025-12-31T21:04:05Z"),
        (THERE, 1, None),
        (THERE, None, None),
        (Around(), 1, None),
        (Around(), 30, "up to 2025-12-31T21:04:05Z"),
        (GONE, 1, None),
        (GONE, 30, "may have expired"),
        (GONE, None, "record 50 is gone"),
        (UNKNOWN, 1, None),
        (UNKNOWN, 30, "up to 2025-12-31T21:04:05Z"),
        (UNKNOWN, None, "no record was found from 50 on"),
    ],
)
def test_what_the_records_around_a_position_prove(
    found: Around, hours: int | None, says: str | None
) -> None:
    read = None if hours is None else NOW - timedelta(hours=hours)
    offset = ShardOffset(progress=Progress.AFTER, sequence_number=50, complete_as_of=read)
    loss = loss_at(offset, found, TIMES)
    assert (loss is None) == (says is None)
    assert says is None or says in str(loss)


def test_an_old_record_that_is_there_dates_its_position() -> None:
    old = replace(NAMED, arrived=NOW - timedelta(hours=30))
    offset = ShardOffset(progress=Progress.AFTER, sequence_number=50)
    assert "may have expired" in str(loss_at(offset, Around(named=old), TIMES))


@pytest.mark.parametrize(
    ("found", "says"),
    [(GONE, "record 650 is gone"), (UNKNOWN, "no record was found from 650 on")],
)
def test_a_first_record_that_is_gone_was_not_read(found: Around, says: str) -> None:
    assert says in str(loss_at(replace(FROM, complete_as_of=NOW), found, TIMES))


def lease(number: int, counter: int) -> Lease:
    return Lease(
        key=shard_id(number),
        shard=shard_id(number),
        stream=None,
        account=None,
        checkpoint="17",
        sub=0,
        counter=counter,
        owner="worker",
    )


def test_an_application_that_runs_is_noticed() -> None:
    require_stopped("app", [lease(0, 1)], [lease(0, 1)])
    for after in ([lease(0, 2)], [lease(0, 1), lease(1, 0)]):
        with pytest.raises(MigrationError, match=r"is running: .*Its owner is worker"):
            require_stopped("app", [lease(0, 1)], after)
