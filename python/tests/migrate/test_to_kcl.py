"""Positions for the Kinesis Client Library: the keys of the leases, and a new table."""

from __future__ import annotations

from datetime import timedelta
from pathlib import Path
from types import SimpleNamespace
from typing import Any

import boto3
import pytest
from botocore.stub import Stubber

from python.tests.migrate.streams import NOW, shard, shard_id
from spark_kinesis import MigrationError
from spark_kinesis._offsets import Progress, ShardOffset, SourceOffset, StreamOffset
from spark_kinesis.tools import handover
from spark_kinesis.tools.cli import Connection, run
from spark_kinesis.tools.facts.losses import SHARD_EXPIRED
from spark_kinesis.tools.handover import (
    HandBack,
    HandOver,
    StreamMigration,
    TakeOver,
    handing_back,
    takeover,
)
from spark_kinesis.tools.handover.handing_back import lease_prefix
from spark_kinesis.tools.handover.leases import Lease, NewLease, create_table, read_key
from spark_kinesis.tools.handover.positions import StreamStops

ARN = "arn:aws:kinesis:eu-west-1:123456789012:stream/orders"
OTHER = "arn:aws:kinesis:eu-west-1:111122223333:stream/orders"
MINE = "123456789012:orders:17:"


def lease(key: str) -> Lease:
    return Lease(key=read_key(key), checkpoint="1", sub=0, counter=1, owner=None)


def prefix(*keys: str, is_alone: bool = False) -> str:
    return lease_prefix(ARN, NOW, [lease(it) for it in keys], is_alone=is_alone)


def test_the_creation_time_in_the_table_is_that_of_the_application() -> None:
    others = ["123456789012:clicks:18:shard-0", "210987654321:orders:19:shard-0"]
    assert prefix(*others, f"{MINE}shard-0", f"{MINE}shard-1") == MINE
    computed = f"123456789012:orders:{int(NOW.timestamp())}:"
    assert prefix(*others) == computed
    assert prefix() == computed
    assert prefix(is_alone=True) == ""
    assert prefix("shard-0") == ""


def test_several_creation_times_are_refused() -> None:
    with pytest.raises(MigrationError, match=r"several creation times: .*:17, .*:18\. Delete"):
        prefix(f"{MINE}shard-0", "123456789012:orders:18:shard-0")


def test_another_creation_time_says_how_to_ignore_it(monkeypatch: pytest.MonkeyPatch) -> None:
    found = SimpleNamespace(arn=ARN, created=NOW, server_time=None)
    monkeypatch.setattr(takeover, "describe", lambda *_: found)
    stopped = StreamStops(stream=ARN, stops={}, created=NOW.replace(year=2025))
    client: Any = None
    with pytest.raises(MigrationError, match=r"created again\. .*--ignore-creation-time"):
        takeover.plan_takeover(client, stopped)


def test_a_start_time_from_java_has_nine_digits_of_a_second(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    created = SimpleNamespace(created=NOW, server_time=NOW, retention=timedelta(hours=24))
    monkeypatch.setattr(handing_back, "describe", lambda *_: created)
    monkeypatch.setattr(handing_back, "list_shards", lambda *_: [shard(0)])
    start = ShardOffset(progress=Progress.AT, time="2026-01-02T03:04:05.123456789Z")
    offset = StreamOffset(created="2026-01-02T03:04:05Z", shards={shard_id(0): start})
    client: Any = None
    back = handing_back.plan_hand_back(client, ARN, offset, [], is_alone=True)
    assert back.begins == NOW.replace(microsecond=123456)


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
    back = handing_back.plan_hand_back(client, ARN, offset, [], is_alone=True)
    assert back.losses == [f"Stream {ARN}, {shard_id(0)}: {SHARD_EXPIRED}."]


def dynamodb() -> Any:
    return boto3.client(
        "dynamodb",
        region_name="eu-west-1",
        aws_access_key_id="x",
        aws_secret_access_key="x",
    )


def test_a_table_that_exists_is_not_created() -> None:
    client = dynamodb()
    with Stubber(client) as stub:
        stub.add_client_error("create_table", "ResourceInUseException")
        with pytest.raises(MigrationError, match="app exists: run the command without --create"):
            create_table(client, "app")


def test_no_table_is_created_for_a_query_that_never_ran(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    client = dynamodb()
    monkeypatch.setattr(Connection, "service", lambda *_, **__: client)
    with Stubber(client):  # refuses every call
        words = ["migrate", "to-kcl", "app", "--checkpoint", str(tmp_path), "--create-table"]
        assert run(words) == 2
    assert "its query never ran" in capsys.readouterr().err


def back(arn: str) -> HandBack:
    lease = NewLease(shard=shard(0), checkpoint="7")
    return HandBack(arn=arn, prefix="", leases=[lease], losses=[])


def test_streams_of_one_name_are_shown_by_arn() -> None:
    backs = [back(ARN), back(OTHER)]
    over = HandOver(table="app", seen=[], streams=backs, planned=())
    assert list(over.lines) == [f"{it} {shard_id(0)}: 7 (0)" for it in (ARN, OTHER)]
    plan: Any = SimpleNamespace(read=())
    streams: list[Any] = [SimpleNamespace(arn=it, name="orders") for it in (ARN, OTHER)]
    taken = [StreamMigration(stream=it, plan=plan, joints=()) for it in streams]
    files: Any = None
    assert list(TakeOver(files=files, streams=taken).lines) == [
        f"{it}: 0 shards to read, 0 already read" for it in (ARN, OTHER)
    ]
    assert [*TakeOver(files=files, streams=taken[:1]).lines] == [
        "orders: 0 shards to read, 0 already read"
    ]


def test_streams_of_one_name_can_be_chosen_by_what_the_error_says(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    monkeypatch.setattr(handover, "plan_hand_back", lambda _, arn, *__, **___: back(arn))
    stream = StreamOffset(created="2026-01-02T03:04:05Z", shards={})
    offset = SourceOffset(streams={ARN: stream, OTHER: stream})
    client: Any = None
    with pytest.raises(MigrationError, match=f"reads several: {OTHER}, {ARN}. Choose one with"):
        handover._hand_backs(client, offset, None, [])
