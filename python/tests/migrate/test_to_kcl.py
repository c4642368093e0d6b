"""Positions for the Kinesis Client Library: the keys of the leases, and a new table."""

from __future__ import annotations

from datetime import timedelta
from types import SimpleNamespace
from typing import Any

import pytest

from python.tests.migrate.streams import NOW, shard, shard_id
from spark_kinesis import MigrationError
from spark_kinesis._offsets import Progress, ShardOffset, SourceOffset, StreamOffset
from spark_kinesis.tools.changes import Plan, ShardPlan
from spark_kinesis.tools.facts.losses import SHARD_EXPIRED
from spark_kinesis.tools.handover import handing_back
from spark_kinesis.tools.handover.handing_back import lease_prefix
from spark_kinesis.tools.handover.leases import Lease, read_lease

ARN = "arn:aws:kinesis:eu-west-1:123456789012:stream/orders"
OTHER = "arn:aws:kinesis:eu-west-1:111122223333:stream/orders"
MINE = "123456789012:orders:17:"


def lease(key: str) -> Lease:
    item = {"leaseKey": {"S": key}, "checkpoint": {"S": "1"}, "leaseCounter": {"N": "1"}}
    found = read_lease(item)
    assert found is not None
    return found


def prefix(*keys: str) -> str:
    return lease_prefix(ARN, NOW, [lease(it) for it in keys])


def test_the_creation_time_in_the_table_is_that_of_the_application() -> None:
    others = ["123456789012:clicks:18:shard-0", "210987654321:orders:19:shard-0"]
    assert prefix(*others, f"{MINE}shard-0", f"{MINE}shard-1") == MINE
    computed = f"123456789012:orders:{int(NOW.timestamp())}:"
    assert prefix(*others) == computed
    assert prefix() == ""
    assert prefix("shard-0") == ""


def test_several_creation_times_are_refused() -> None:
    with pytest.raises(MigrationError, match=r"several creation times: .*:17:, .*:18:\. Delete"):
        prefix(f"{MINE}shard-0", "123456789012:orders:18:shard-0")


def test_a_start_time_from_java_has_nine_digits_of_a_second(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    created = SimpleNamespace(created=NOW, server_time=NOW, retention=timedelta(hours=24))
    monkeypatch.setattr(handing_back, "describe", lambda *_: created)
    monkeypatch.setattr(handing_back, "list_shards", lambda *_: [shard(0)])
    start = ShardOffset(progress=Progress.AT, time="2026-01-02T03:04:05.123456789Z")
    offset = StreamOffset(created="2026-01-02T03:04:05Z", shards={shard_id(0): start})
    client: Any = None
    ((lease,), _) = handing_back.stream_leases(client, ARN, offset, [])
    assert lease.begins == NOW.replace(microsecond=123456)


def test_a_shard_that_has_expired_is_lost(monkeypatch: pytest.MonkeyPatch) -> None:
    found = SimpleNamespace(created=NOW, server_time=NOW, retention=timedelta(hours=24))
    monkeypatch.setattr(handing_back, "describe", lambda *_: found)
    monkeypatch.setattr(handing_back, "list_shards", lambda *_: [shard(1, 0)])
    shards = {
        shard_id(0): ShardOffset(progress=Progress.AFTER, sequence_number=50),
        shard_id(1): ShardOffset(progress=Progress.TRIM_HORIZON, waits_for=(shard_id(0),)),
    }
    offset = StreamOffset(created="2026-01-02T03:04:05Z", shards=shards)
    client: Any = None
    _, plans = handing_back.stream_leases(client, ARN, offset, [])
    assert {it.shard: it.loss for it in plans} == {shard_id(0): SHARD_EXPIRED, shard_id(1): None}


class Made(Plan):
    """A plan that takes nothing back."""

    undo = "nothing"


def test_streams_of_one_name_are_shown_by_arn() -> None:
    shards = [ShardPlan(arn=it, shard="shard-0", words="7 (0)") for it in (ARN, OTHER)]
    assert Made(shards=shards).lines == [f"{it} shard-0: 7 (0)" for it in (ARN, OTHER)]
    assert Made(shards=shards[:1]).lines == ["orders shard-0: 7 (0)"]


def test_a_loss_that_nobody_allowed_is_an_error() -> None:
    lost = ShardPlan(arn=ARN, shard="shard-0", words="7 (0)", loss="record 7 is gone")
    plan = Made(shards=[lost])
    with pytest.raises(MigrationError, match=r"orders, shard-0: record 7 is gone\. Nothing was"):
        plan.is_approved(lambda _: True, MigrationError, allow_loss=False)
    assert plan.is_approved(lambda _: True, MigrationError, allow_loss=True)
    assert not plan.is_approved(lambda _: False, MigrationError, allow_loss=False)


def test_streams_of_one_name_can_be_chosen_by_what_the_error_says() -> None:
    stream = StreamOffset(created="2026-01-02T03:04:05Z", shards={})
    offset = SourceOffset(streams={ARN: stream, OTHER: stream})
    with pytest.raises(MigrationError, match=f"reads several: {OTHER}, {ARN}. Choose one with"):
        handing_back._chosen(offset, None, [])
    assert handing_back._chosen(offset, ARN, []) == [ARN]
