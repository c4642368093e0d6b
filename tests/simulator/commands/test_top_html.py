"""`spark-kinesis top --html` with a local Kinesis, and its page in a browser."""

from __future__ import annotations

from collections.abc import Iterator
from datetime import timedelta
from pathlib import Path

import pytest

from spark_kinesis.tools.cli import run
from spark_kinesis.tools.top import command
from tests.docs.chromium import Browser, opened_browser
from tests.simulator.commands.written import Clock, Query, at


@pytest.fixture(scope="module")
def browser(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Browser]:
    yield from opened_browser(tmp_path_factory.mktemp("profile"))


def written(query: Query, file: Path, monkeypatch: pytest.MonkeyPatch, *, looks: int = 99) -> int:
    """Write a page, and return the exit code."""
    monkeypatch.setattr(command, "time", Clock(query.kinesis, looks))
    return run(query.words("top", "--html", str(file), "--for", "20s"))


def test_a_page_opens_without_a_network(
    query: Query,
    browser: Browser,
    tmp_path: Path,
    monkeypatch: pytest.MonkeyPatch,
    capsys: pytest.CaptureFixture[str],
) -> None:
    began = query.put(200)
    query.kinesis.split("orders", "shardId-000000000001")
    for step in range(3):
        query.complete(s0=at(began + timedelta(seconds=20 * step)), s1=at(began))
    file = tmp_path / "page.html"
    assert written(query, file, monkeypatch) == 0
    monkeypatch.undo()
    assert capsys.readouterr().out == f"{file}\n"
    browser.open(file.as_uri())
    browser.wait_for("document.images[0].naturalWidth > 500")
    text = browser.evaluate("document.body.innerText")
    assert "spark-kinesis: the-query" in text
    assert "The query catches up at" in text
    assert browser.evaluate("document.querySelectorAll('tbody tr').length") == 2
    assert "3  open, comes later" in text
    assert all(it.startswith(("file:", "data:")) for it in browser.requests)
    assert browser.errors == []


def test_ctrl_c_writes_the_page_early(
    query: Query, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    began = query.put(1)
    query.complete(s0=at(began), s1=at(began))
    assert written(query, tmp_path / "early.html", monkeypatch, looks=2) == 0
    assert "caught up" in (tmp_path / "early.html").read_text()


def test_lost_data_is_a_finding(
    query: Query, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    began = query.put(1)
    query.complete(s0=at(began), s1=at(began))
    query.complete(s0=at(began), s1=at(began))
    query.kinesis.advance(timedelta(hours=20))
    assert written(query, tmp_path / "lost.html", monkeypatch) == 1
    assert "unread records expire at" in (tmp_path / "lost.html").read_text()


def test_one_look_is_enough_for_a_page(query: Query, tmp_path: Path) -> None:
    began = query.put(1)
    query.complete(s0=at(began), s1=at(began))
    file = tmp_path / "once.html"
    assert run(query.words("top", "--html", str(file), "--once")) == 0
    assert "2 shards read" in file.read_text()
