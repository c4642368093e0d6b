"""`spark-kinesis top` with a local Kinesis and a checkpoint written by hand."""

from __future__ import annotations

import json
import os
import pty
import signal
import subprocess
import sys
import time
from datetime import datetime, timedelta
from typing import Any

import pytest

from spark_kinesis import CheckpointError
from spark_kinesis._offsets import Progress, ShardOffset
from spark_kinesis.tools import look
from spark_kinesis.tools.cli import run
from spark_kinesis.tools.top import command
from tests.simulator.commands.written import Clock, Query, at

FIRST, SECOND = "shardId-000000000000", "shardId-000000000001"


def once(query: Query, capsys: pytest.CaptureFixture[str], *, code: int = 0) -> dict[str, Any]:
    """The snapshot of one look."""
    assert run(query.words("top", "--once", "--json")) == code
    found: dict[str, Any] = json.loads(capsys.readouterr().out)
    return found


def test_each_shard_has_its_lag_records_and_forecast(
    query: Query, capsys: pytest.CaptureFixture[str]
) -> None:
    began = query.put(500)
    for step in range(4):
        done = at(began + timedelta(seconds=20 * step))
        query.complete(s0=done, s1=done)
    found = once(query, capsys)
    assert found["query"] == "the-query"
    first, second = found["shards"]
    assert (first["shard"], first["state"], first["isOpen"]) == (FIRST, "reading", True)
    # 540 s have passed, and the query has read 60 s.
    assert first["lag"] == pytest.approx(480, abs=2)
    assert first["speed"] == pytest.approx(2)
    assert first["arriving"] == pytest.approx(1, rel=0.05)
    assert first["processed"] == pytest.approx(2, rel=0.05)
    assert first["records"] == pytest.approx(480, rel=0.05)  # 440, and 40 s without any
    assert not first["isCounted"]
    assert (second["lag"], second["records"], second["isCounted"]) == (0, 0, True)
    assert found["forecast"]["outlook"] == "catches_up"
    caught_up = datetime.fromisoformat(found["forecast"]["at"].replace("Z", "+00:00"))
    assert (caught_up - query.kinesis.now).total_seconds() == pytest.approx(480, abs=3)
    assert found["cost"]["calls"] == pytest.approx(2 / 300)  # the first shard was the pilot, too
    assert found["notes"] == []


def test_a_notebook_gets_the_same_figures(query: Query, capsys: pytest.CaptureFixture[str]) -> None:
    began = query.put(20)
    query.complete(s0=at(began), s1=at(began))
    told: list[tuple[int, int]] = []
    found = look(str(query.folder), kinesis=query.client, advance=lambda *it: told.append(it))
    assert told[-1] == (2, 2)
    assert [(it.shard, it.records) for it in found.shards] == [(FIRST, 20), (SECOND, 0)]
    shown = once(query, capsys)
    assert shown.keys() == found.document.keys()
    assert [it["shard"] for it in shown["shards"]] == [FIRST, SECOND]
    assert shown["shards"][0].keys() == found.document["shards"][0].keys()
    with pytest.raises(CheckpointError, match="it is not a checkpoint"):
        look(str(query.folder / "offsets"), kinesis=query.client)


def test_a_command_ends_after_a_given_time(
    query: Query, capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch
) -> None:
    began = query.put(1)
    query.complete(s0=at(began), s1=at(began))
    monkeypatch.setattr(command, "time", Clock(query.kinesis))
    assert run(query.words("top", "--interval", "6s", "--for", "20s")) == 0
    assert len(capsys.readouterr().out.splitlines()) == 5


def test_a_stopped_query_is_a_finding(query: Query, capsys: pytest.CaptureFixture[str]) -> None:
    began = query.put(20)
    query.complete(s0=at(began), s1=at(began))
    query.complete(s0=at(began), s1=at(began))
    query.kinesis.advance(timedelta(hours=20))
    found = once(query, capsys, code=1)
    assert found["forecast"] == {
        "outlook": "loses_data",
        "at": found["shards"][0]["expires"],
        "shard": FIRST,
    }
    expires = datetime.fromisoformat(found["shards"][0]["expires"].replace("Z", "+00:00"))
    assert abs(expires - began - timedelta(days=1)) < timedelta(seconds=2)
    assert (found["shards"][0]["records"], found["shards"][0]["isCounted"]) == (20, True)
    assert found["batch"]["isOverdue"]


def test_children_wait_and_the_tree_shows_them(
    query: Query, capsys: pytest.CaptureFixture[str]
) -> None:
    began = query.put(3)
    _, right = query.kinesis.split("orders", FIRST)
    query.kinesis.merge("orders", right)
    waiting = ShardOffset(progress=Progress.TRIM_HORIZON, waits_for=(FIRST,))
    query.complete(s0=at(began), s1=at(began), s2=waiting)
    assert run(query.words("top", "--once")) == 0
    shown = capsys.readouterr().out
    assert "waits for 0" in shown
    assert "2 shards read, 1 waiting" in shown
    tree = shown.partition("Splits and merges of orders\n")[2].splitlines()[:5]
    assert tree == [
        "0  closed, is read",
        "   └─ 2  open, waits",
        "   └─ 3  closed, comes later",
        "1  closed, is read",
        "   └─ 4 = 1 + 3  open, comes later",
    ]


def test_refused_and_failed_calls_are_shown(
    query: Query, capsys: pytest.CaptureFixture[str]
) -> None:
    began = query.put(1)
    query.complete(s0=at(began), s1=at(began))
    query.kinesis.fault("throttle", operation="GetRecords", shard=FIRST)
    query.kinesis.fault("internal-failure", operation="GetRecords", shard=SECOND)
    found = once(query, capsys)
    refused = {it["shard"]: it["refused"] for it in found["shards"]}
    assert refused == {FIRST: 2, SECOND: 0}
    (note,) = found["notes"]
    assert note.startswith("A shard could not be read: ")
    assert "GetRecords" in note
    query.kinesis.fault("access-denied", operation="ListShards")
    assert run(query.words("top", "--once")) == 2
    assert "AccessDeniedException" in capsys.readouterr().err


def test_without_a_terminal_each_look_is_a_line(
    query: Query, capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch
) -> None:
    began = query.put(2)
    query.complete(s0=at(began), s1=at(began))
    monkeypatch.setattr(command, "time", Clock(query.kinesis, 3))
    assert run(query.words("top", "--interval", "6s")) == 0
    lines = capsys.readouterr().out.splitlines()
    assert len(lines) == 3
    assert all("batch 0  Lag 1" in it for it in lines)
    monkeypatch.setattr(command, "time", Clock(query.kinesis, 20))
    query.kinesis.reset_stats()
    assert run(query.words("top", "--interval", "1s", "--json")) == 0
    looks = [json.loads(it) for it in capsys.readouterr().out.splitlines()]
    assert len(looks) == 20
    # Once in five seconds for 19 s, and the pilot.
    assert query.kinesis.stats().calls["GetRecords"] <= 2 * 4 + 1


def test_a_checkpoint_that_cannot_be_read_for_a_while_is_a_note(
    query: Query, capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch
) -> None:
    began = query.put(2)
    query.complete(s0=at(began), s1=at(began))

    def damage(_: float) -> None:
        if query.batches > 1:
            raise KeyboardInterrupt
        query.complete(s0=at(began), s1=at(began))
        (query.folder / "offsets/1").write_text("v1\n")

    monkeypatch.setattr(time, "sleep", damage)
    assert run(query.words("top", "--json")) == 0
    first, second = [json.loads(it) for it in capsys.readouterr().out.splitlines()]
    assert first["notes"] == []
    (note,) = second["notes"]
    assert "offsets/1 is not a log of offsets" in note
    assert second["totals"]["reading"] == 2  # what was known is still shown


@pytest.mark.usefixtures("_interruptible")
def test_a_terminal_is_redrawn_until_ctrl_c(query: Query) -> None:
    began = query.put(2)
    query.complete(s0=at(began), s1=at(began))
    keyboard, screen = pty.openpty()
    process = subprocess.Popen(
        [sys.executable, "-m", "spark_kinesis", *query.words("top", "--interval", "500ms")],
        stdin=screen,
        stdout=screen,
        env={**os.environ, "TERM": "xterm", "COLUMNS": "120", "LINES": "40"},
    )
    os.close(screen)
    shown = b""
    while shown.count(b"Lag 1") < 3:
        shown += os.read(keyboard, 4096)
    process.send_signal(signal.SIGINT)
    assert process.wait(60) == 0
    os.close(keyboard)
    assert b"\x1b[?1049h" in shown  # the alternate screen: what was there comes back at the end
