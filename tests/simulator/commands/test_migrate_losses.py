"""Records that are lost or skipped between another consumer and a query."""

from __future__ import annotations

import json
import re
from datetime import timedelta
from pathlib import Path
from typing import TYPE_CHECKING, Any

from spark_kinesis._times import instant, utc_now
from spark_kinesis.local import LocalKinesis
from tests.dynamodb import TABLE, put_lease
from tests.simulator.calls import client_of
from tests.simulator.commands.moving import FIRST, Moving

if TYPE_CHECKING:
    from collections.abc import Callable

    import pytest


def test_a_record_that_is_gone_is_a_loss(
    moving: Moving, moto: str, table: Any, capsys: pytest.CaptureFixture[str]
) -> None:
    gone = str(int(moving.numbers[3]) + 1)
    put_lease(table, TABLE, FIRST, gone)
    assert moving.kcl(moto) == 1
    said = capsys.readouterr().err
    assert f"{FIRST}: record {gone} is gone" in said
    assert moving.numbers[4] in said
    assert "--allow-data-loss" in said
    assert not moving.folder.exists()
    assert moving.kcl(moto, "--allow-data-loss") == 0
    assert moving.begins == {"0": gone}


def test_the_newest_record_skips_what_the_application_has_not_read(
    moving: Moving, moto: str, table: Any, capsys: pytest.CaptureFixture[str]
) -> None:
    moving.age()
    put_lease(table, TABLE, FIRST, "LATEST")
    assert moving.kcl(moto) == 1
    said = capsys.readouterr()
    assert re.search(f"{FIRST}: begins NOW: records before 20[^ ]*Z are not read", said.out)
    assert f"{FIRST}: the other consumer was to begin with new records" in said.err
    assert f"the first of them, {moving.numbers[0]}, arrived at 20" in said.err
    assert "--at" in said.err
    assert "or to the oldest time within the retention period" in said.err
    assert not moving.folder.exists()
    hour_ago = instant(utc_now() - timedelta(hours=1))
    assert moving.kcl(moto, "--at", hour_ago) == 0
    assert moving.begins == {"0": f"at:{hour_ago}"}


def test_the_newest_record_of_a_shard_that_never_received_one_is_no_loss(
    moving: Moving,
    moto: str,
    table: Any,
    make_stream: Callable[[int], str],
    capsys: pytest.CaptureFixture[str],
) -> None:
    moving.name = make_stream(1)
    put_lease(table, TABLE, FIRST, "LATEST")
    assert moving.kcl(moto) == 0
    assert f"{FIRST}: begins\n" in capsys.readouterr().out
    assert moving.begins["0"].startswith("at:20")


def test_the_newest_record_on_demand(moving: Moving, moto: str, table: Any) -> None:
    put_lease(table, TABLE, FIRST, "LATEST")
    assert moving.kcl(moto, "--allow-data-loss") == 0
    assert moving.begins["0"].startswith("at:20")


def test_a_time_before_the_retention_period_is_a_loss(
    tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    with LocalKinesis(streams={"orders": 1}, clock="simulated") as local:
        client = client_of(local.endpoint)
        local.advance(timedelta(days=30).total_seconds())
        moving = Moving(client, local.endpoint, "orders", tmp_path)
        path = tmp_path / "positions.json"
        for age, code in ((25, 1), (23, 0)):
            begin = instant(local.now - timedelta(hours=age))
            row = {"shard": FIRST, "position": "AT_TIMESTAMP", "timestamp": begin}
            path.write_text(json.dumps([row]))
            assert moving.migrate("file", str(path), "--dry-run") == code
            said = capsys.readouterr()
            assert ("LOST" in said.out) == (code == 1)
            lost = f"records that arrived between {begin} and 20"
            assert (lost in said.err) == (code == 1)
