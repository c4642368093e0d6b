"""The command ``spark-kinesis rewind``, without Kinesis."""

from __future__ import annotations

import io
from pathlib import Path
from types import SimpleNamespace
from typing import Any

import pytest

from python.tests.migrate.streams import NOW, shard
from spark_kinesis.tools import changes, rewinding
from spark_kinesis.tools.cli import Connection, run

from .folder import Folder, line


class Query(Folder):
    """The checkpoint of a query that has read record 20 of a stream that still has it."""

    def rewind(self, *words: str, to: str = "trim_horizon") -> int:
        """Move it without a question."""
        return self.ask("--yes", *words, to=to)

    def ask(self, *words: str, to: str = "trim_horizon") -> int:
        """Move it."""
        place = ["--checkpoint", str(self.path), "--to", to, "--watch", "0s"]
        return run(["rewind", *place, *words])

    def is_moved(self) -> bool:
        return self.text("offsets/0") != f"v1\n{{}}\n{line(20)}"


@pytest.fixture
def query(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Query:
    made = Query(tmp_path)
    made.write("offsets/0", f"v1\n{{}}\n{line(20)}")
    made.write("commits/0", "v1\n{}")
    found = SimpleNamespace(
        created=NOW.replace(day=1, hour=0, minute=0, second=0),
        server_time=NOW,
        retention=NOW - NOW.replace(day=1),
        arn="orders",
    )
    monkeypatch.setattr(Connection, "kinesis", lambda _: None)
    monkeypatch.setattr(rewinding, "describe", lambda *_: found)
    monkeypatch.setattr(rewinding, "list_shards", lambda *_: [shard(0)])
    return made


def test_the_plan_is_shown_and_kept(query: Query, capsys: pytest.CaptureFixture[str]) -> None:
    assert query.rewind("--dry-run") == 0
    said = capsys.readouterr()
    plan, end = said.out.splitlines()
    assert plan == "orders shardId-000000000000: from 20 to trim_horizon"
    assert end == "Nothing was changed."
    assert said.err.startswith("Stop the query first.")
    assert not query.is_moved()
    assert query.rewind() == 0
    assert query.is_moved()
    (kept,) = (query.path / "rewinds").iterdir()
    assert (kept / "plan.txt").read_text() == f"{plan}\n"


def test_a_loss_is_refused_or_allowed(query: Query, capsys: pytest.CaptureFixture[str]) -> None:
    old = line(20).replace('"20"', '"20@1767000000000"')
    query.write("offsets/0", f"v1\n{{}}\n{old}")
    before = query.text("offsets/0")
    assert query.rewind() == 1
    said = capsys.readouterr()
    assert "shardId-000000000000: LOST: the shard was read up to 2025-12-29" in said.out
    assert "Nothing was changed." in said.out
    assert "--allow-data-loss" in said.err
    assert query.text("offsets/0") == before
    assert query.rewind("--allow-data-loss") == 0
    assert query.text("offsets/0") != before


def test_another_position_is_answered_with_all_forms(
    query: Query, capsys: pytest.CaptureFixture[str]
) -> None:
    assert query.rewind(to="yesterday") == 2
    said = " ".join(capsys.readouterr().err.split())
    assert "'yesterday' is not trim_horizon, latest, or a time with a time zone" in said
    assert query.rewind("--dry-run", to="Latest") == 0
    assert query.rewind("--dry-run", to="2026-01-02T00:00Z") == 0


def test_without_a_terminal_nothing_is_changed_unless_the_user_agreed(
    query: Query, capsys: pytest.CaptureFixture[str]
) -> None:
    assert query.ask() == 2
    shown = capsys.readouterr()
    assert "from 20 to trim_horizon" in shown.out, "the plan is shown"
    assert "there is no terminal to ask" in shown.err
    assert "--yes" in shown.err
    assert not query.is_moved()


@pytest.mark.parametrize(("answer", "code"), [("n", 1), ("y", 0)])
def test_a_terminal_is_asked(
    query: Query, monkeypatch: pytest.MonkeyPatch, answer: str, code: int
) -> None:
    terminal = io.StringIO(f"{answer}\n")
    monkeypatch.setattr(terminal, "isatty", lambda: True)
    monkeypatch.setattr("sys.stdin", terminal)
    assert query.ask() == code
    assert query.is_moved() == (code == 0)


def test_a_query_that_plans_a_batch_while_the_command_watches_is_noticed(
    query: Query, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    def sleep(_: Any) -> None:
        query.write("offsets/1", f"v1\n{{}}\n{line(30)}")

    monkeypatch.setattr(changes, "time", SimpleNamespace(sleep=sleep))
    assert query.rewind("--watch", "15s") == 2
    assert "is running: it has planned or completed a micro-batch" in capsys.readouterr().err
    assert not query.is_moved()


def test_the_command_says_how_to_undo_it(query: Query, capsys: pytest.CaptureFixture[str]) -> None:
    before = query.text("offsets/0")
    assert query.rewind() == 0
    said = capsys.readouterr().out
    (kept,) = (query.path / "rewinds").iterdir()
    assert f"copy {kept}/offsets/0 to {query.path}/offsets/0, then" in said
    assert f"delete {query.path}/offsets/1" in said
    assert (kept / "offsets/0").read_text() == before


def test_a_move_that_moves_nothing_neither_asks_nor_writes(
    query: Query, capsys: pytest.CaptureFixture[str]
) -> None:
    before = line(20).replace('"20"', '"trim_horizon"')
    query.write("offsets/0", f"v1\n{{}}\n{before}")
    assert query.ask("--watch", "15s") == 0
    assert capsys.readouterr().out == "There is nothing to move.\n"
    assert not (query.path / "offsets" / "1").exists()


def test_the_time_to_watch_has_a_unit(query: Query, capsys: pytest.CaptureFixture[str]) -> None:
    assert query.rewind("--watch", "1ms") == 0
    assert query.rewind("--watch", "15") == 2
    assert "'15' is not a duration such as 200ms, 30s" in capsys.readouterr().err
