"""`spark-kinesis top` with a local Kinesis, a checkpoint written by hand, and a browser."""

from __future__ import annotations

import json
import os
import pty
import signal
import subprocess
import sys
import time
from collections.abc import Iterator
from datetime import datetime, timedelta
from pathlib import Path
from typing import Any

import pytest

from spark_kinesis import CheckpointError
from spark_kinesis._offsets import Progress, ShardOffset
from spark_kinesis.local import LocalKinesis
from spark_kinesis.tools import look, top
from spark_kinesis.tools.cli import run
from tests.docs.chromium import Browser, opened_browser
from tests.simulator.commands.written import Clock, Query, at

FIRST, SECOND = "shardId-000000000000", "shardId-000000000001"


def once(query: Query, capsys: pytest.CaptureFixture[str], *, code: int = 0) -> dict[str, Any]:
    """The snapshot of one look."""
    assert run(query.words("top", "--once", "--json")) == code
    found: dict[str, Any] = json.loads(capsys.readouterr().out)
    return found


def test_each_shard_has_its_lag_speed_and_forecast(
    query: Query, capsys: pytest.CaptureFixture[str]
) -> None:
    began = query.put(500)
    for step in range(4):
        done = at(began + timedelta(seconds=20 * step))
        query.complete(s0=done, s1=done)
    found = once(query, capsys)
    assert found["query"] == str(query.folder)
    first, second = found["shards"]
    assert (first["stream"], first["shard"], first["waits_for"]) == ("orders", FIRST, [])
    # 540 s have passed, and the query has read 60 s.
    assert first["lag"] == pytest.approx(480, abs=2)
    assert first["speed"] == pytest.approx(2)
    assert second["lag"] == 0
    assert found["forecast"]["outlook"] == "catches_up"
    caught_up = datetime.fromisoformat(found["forecast"]["at"].replace("Z", "+00:00"))
    assert (caught_up - query.kinesis.now).total_seconds() == pytest.approx(480, abs=3)
    assert found["notes"] == []


def test_a_notebook_gets_the_same_figures(query: Query, capsys: pytest.CaptureFixture[str]) -> None:
    began = query.put(20)
    query.complete(s0=at(began), s1=at(began))
    query.kinesis.reset_stats()
    found = look(str(query.folder), kinesis=query.client)
    assert query.kinesis.stats().calls["GetRecords"] == 2  # one for each shard
    assert [it.shard for it in found.shards] == [FIRST, SECOND]
    assert found.lag is not None
    assert found.lag.total_seconds() == pytest.approx(30, abs=2)
    shown = once(query, capsys)
    assert [it["shard"] for it in shown["shards"]] == [FIRST, SECOND]
    with pytest.raises(CheckpointError, match="it is not a checkpoint"):
        look(str(query.folder / "offsets"), kinesis=query.client)


def test_a_stopped_query_is_a_finding(query: Query, capsys: pytest.CaptureFixture[str]) -> None:
    began = query.put(20)
    for seconds in (0, 5):
        done = at(began + timedelta(seconds=seconds))
        query.complete(s0=done, s1=done)
    query.kinesis.advance(timedelta(hours=20))
    found = once(query, capsys, code=1)
    assert (found["forecast"]["outlook"], found["forecast"]["shard"]) == ("loses_data", FIRST)
    expires = datetime.fromisoformat(found["forecast"]["at"].replace("Z", "+00:00"))
    assert abs(expires - began - timedelta(days=1)) < timedelta(minutes=1)
    assert found["batch"]["is_overdue"]


def test_a_child_waits_for_its_parent(query: Query, capsys: pytest.CaptureFixture[str]) -> None:
    began = query.put(3)
    query.kinesis.split("orders", FIRST)
    waiting = ShardOffset(progress=Progress.TRIM_HORIZON, waits_for=(FIRST,))
    query.complete(s0=at(began), s1=at(began), s2=waiting)
    assert run(query.words("top", "--once")) == 0
    shown = capsys.readouterr().out
    assert "waits for 0" in shown
    assert "2 shards read, 1 waiting" in shown


def test_a_shard_that_cannot_be_read_is_a_note_with_its_name(
    query: Query, capsys: pytest.CaptureFixture[str]
) -> None:
    began = query.put(1)
    query.complete(s0=at(began), s1=at(began))
    query.kinesis.fault("throttle", operation="GetRecords", shard=FIRST)
    found = once(query, capsys)
    (note,) = found["notes"]
    assert note.startswith(f"{FIRST} of {query.arn} could not be read: ")
    assert "GetRecords" in note
    # What the checkpoint says is still known.
    assert found["shards"][0]["lag"] == pytest.approx(11, abs=2)
    query.kinesis.fault("access-denied", operation="DescribeStreamSummary")
    assert run(query.words("top", "--once")) == 2
    assert "AccessDeniedException" in capsys.readouterr().err


def test_without_a_terminal_each_look_is_a_line(
    query: Query, capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch
) -> None:
    began = query.put(2)
    query.complete(s0=at(began), s1=at(began))
    monkeypatch.setattr(top, "time", Clock(query.kinesis, 3))
    assert run(query.words("top")) == 0
    lines = capsys.readouterr().out.splitlines()
    assert len(lines) == 3
    assert all("Lag 1" in it or "Lag 2" in it for it in lines)
    monkeypatch.setattr(top, "time", Clock(query.kinesis, 20))
    query.kinesis.reset_stats()
    assert run(query.words("top", "--json")) == 0
    assert len([json.loads(it) for it in capsys.readouterr().out.splitlines()]) == 20
    assert query.kinesis.stats().calls["GetRecords"] == 2 * 20


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
    assert second["shards"] == first["shards"]  # what was known is still shown


@pytest.mark.usefixtures("_interruptible")
def test_a_terminal_is_redrawn_until_ctrl_c(query: Query) -> None:
    began = query.put(2)
    query.complete(s0=at(began), s1=at(began))
    keyboard, screen = pty.openpty()
    process = subprocess.Popen(
        [sys.executable, "-m", "spark_kinesis", *query.words("top")],
        stdin=screen,
        stdout=screen,
        env={**os.environ, "TERM": "xterm", "COLUMNS": "120", "LINES": "40"},
    )
    os.close(screen)
    shown = b""
    while shown.count(b"Lag 1") < 2:
        shown += os.read(keyboard, 4096)
    process.send_signal(signal.SIGINT)
    assert process.wait(60) == 0
    os.close(keyboard)
    assert b"\x1b[?1049h" in shown  # the alternate screen: what was there comes back at the end


@pytest.fixture(scope="module")
def browser(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Browser]:
    yield from opened_browser(tmp_path_factory.mktemp("profile"))


def test_a_page_opens_without_a_network(
    query: Query, browser: Browser, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    began = query.put(200)
    for step in range(3):
        query.complete(s0=at(began + timedelta(seconds=20 * step)), s1=at(began))
    file = tmp_path / "page.html"
    assert run(query.words("top", "--html", str(file))) == 0
    assert capsys.readouterr().out == f"{file}\n"
    browser.open(file.as_uri())
    browser.wait_for("document.querySelectorAll('pre').length === 1")
    text = browser.evaluate("document.body.innerText")
    assert str(query.folder) in text
    assert "The query catches up at" in text
    assert "2 shards read" in text
    assert all(it.startswith("file:") for it in browser.requests)
    assert browser.errors == []


def test_lost_data_in_a_page_is_a_finding(
    query: Query, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    began = query.put(20)
    for seconds in (0, 5):
        done = at(began + timedelta(seconds=seconds))
        query.complete(s0=done, s1=done)
    query.kinesis.advance(timedelta(hours=20))
    assert run(query.words("top", "--html", str(tmp_path / "lost.html"))) == 1
    assert "unread records expire at" in (tmp_path / "lost.html").read_text()
    capsys.readouterr()
    assert run(query.words("top", "--html", str(tmp_path / "missing/page.html"))) == 2
    assert "missing/page.html" in capsys.readouterr().err


@pytest.mark.slow
def test_a_thousand_shards(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    with LocalKinesis(streams={"orders": 1000}, clock="simulated") as kinesis:
        query = Query(kinesis, tmp_path)
        began = query.put(1)
        query.complete(**{f"s{number}": at(began) for number in range(1000)})
        kinesis.reset_stats()
        found = once(query, capsys)
        assert len(found["shards"]) == 1000
        assert sum(it["lag"] > 0 for it in found["shards"]) == 1
        assert kinesis.stats().calls["GetRecords"] == 1000
