"""Records that are lost or skipped between another consumer and a query."""

from __future__ import annotations

from datetime import timedelta
from pathlib import Path
from typing import TYPE_CHECKING, Any

from spark_kinesis._times import instant
from spark_kinesis.local import LocalKinesis
from tests.dynamodb import TABLE, put_lease
from tests.simulator.calls import client_of
from tests.simulator.commands.moving import FIRST, Moving

if TYPE_CHECKING:
    import pytest


def test_a_record_that_is_gone_is_a_loss(
    moving: Moving, moto: str, table: Any, capsys: pytest.CaptureFixture[str]
) -> None:
    gone = str(int(moving.numbers[3]) + 1)
    put_lease(table, TABLE, FIRST, gone)
    assert moving.kcl(moto) == 1
    said = capsys.readouterr()
    assert f"{FIRST}: LOST: record {gone} is gone" in said.out
    assert moving.numbers[4] in said.out
    assert "Nothing was changed." in said.out
    assert "--allow-data-loss" in said.err
    assert not moving.folder.exists()
    assert moving.kcl(moto, "--allow-data-loss") == 0
    assert moving.begins == {"0": gone}


def test_latest_does_not_say_what_was_read(
    moving: Moving, moto: str, table: Any, capsys: pytest.CaptureFixture[str]
) -> None:
    put_lease(table, TABLE, FIRST, "LATEST")
    assert moving.kcl(moto, "--allow-data-loss") == 2
    said = capsys.readouterr()
    assert f"do not say which records were read of {FIRST}" in said.err
    assert not moving.folder.exists()
    assert moving.kcl(moto, "--begin", "latest") == 0
    assert moving.begins["0"].startswith("at:20")


def test_a_time_before_the_retention_period_is_a_loss(
    tmp_path: Path, moto: str, table: Any, capsys: pytest.CaptureFixture[str]
) -> None:
    put_lease(table, TABLE, FIRST, "AT_TIMESTAMP")
    with LocalKinesis(streams={"orders": 1}, clock="simulated") as local:
        client = client_of(local.endpoint)
        local.advance(timedelta(days=30).total_seconds())
        moving = Moving(client, local.endpoint, "orders", tmp_path)
        for age, code in ((25, 1), (23, 0)):
            begin = instant(local.now - timedelta(hours=age))
            assert moving.kcl(moto, "--begin", begin, "--dry-run") == code
            lost = f"LOST: records that arrived between {begin} and 20"
            assert (lost in capsys.readouterr().out) == (code == 1)
