"""The command ``spark-kinesis rewind``, without Kinesis."""

from __future__ import annotations

import io
import json
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest

from spark_kinesis._offsets import decode
from spark_kinesis.tools import rewinding
from spark_kinesis.tools.cli import Connection, run
from spark_kinesis.tools.rewinding.effects import Change, Effect, Move

ARN = "arn:aws:kinesis:eu-west-1:123456789012:stream/orders"


def line(number: int) -> str:
    shards = f'"shards":{{"shardId-000000000000":"{number}"}}'
    return f'{{"version":1,"streams":{{"{ARN}":{{"created":"2026-01-01T00:00:00Z",{shards}}}}}}}'


class Query:
    """The checkpoint of a query, and what a move of it does."""

    def __init__(self, path: Path) -> None:
        self.path = path
        self.effect = Effect.AGAIN
        self.loss: str | None = None
        for name, text in (("offsets/0", f"v1\n{{}}\n{line(20)}"), ("commits/0", "v1\n{}")):
            (path / name).parent.mkdir()
            (path / name).write_text(text)

    def move(self, *_: Any, **__: Any) -> Move:
        change = Change(
            shard="shardId-000000000000",
            before=None,
            after=None,
            effect=self.effect,
            loss=self.loss,
        )
        return Move(offset=decode(line(5), "here"), changes={ARN: [change]})

    def rewind(self, *words: str, to: str = "trim_horizon") -> int:
        agreed = ["--yes", "--watch", "0"]
        return run(["rewind", "--checkpoint", str(self.path), "--to", to, *agreed, *words])

    @property
    def is_moved(self) -> bool:
        return (self.path / "offsets/0").read_text().endswith(line(5))


@pytest.fixture
def query(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Query:
    made = Query(tmp_path)
    monkeypatch.setattr(Connection, "kinesis", lambda _: None)
    monkeypatch.setattr(rewinding, "move", made.move)
    return made


def test_an_unproven_move_is_refused(query: Query, capsys: pytest.CaptureFixture[str]) -> None:
    query.effect = Effect.UNPROVEN
    assert query.rewind() == 1
    shown = capsys.readouterr()
    assert "shardId-000000000000: unknown: the search ended before" in shown.out
    assert "Nothing was changed." in shown.out
    assert "--allow-unproven" in shown.err
    assert not query.is_moved


def test_streams_of_one_name_are_shown_by_arn(
    query: Query, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    other, name = ARN.replace("123456789012", "111122223333"), "shardId-000000000000"
    change = Change(shard=name, before=None, after=None, effect=Effect.AGAIN)
    move = Move(offset=decode(line(5), "here"), changes={ARN: [change], other: [change]})
    monkeypatch.setattr(rewinding, "move", lambda *_, **__: move)
    assert query.rewind("--dry-run") == 0
    shown = capsys.readouterr().out
    assert f"{ARN} {name}: " in shown
    assert f"{other} {name}: " in shown


def test_an_unproven_move_on_demand(query: Query, capsys: pytest.CaptureFixture[str]) -> None:
    query.effect = Effect.UNPROVEN
    assert query.rewind("--allow-unproven", "--json") == 0
    assert query.is_moved
    shown = json.loads(capsys.readouterr().out)
    (change,) = shown["streams"][ARN]
    assert change["effect"] == "unproven"
    note = json.loads((query.path / shown["keptAside"] / "note.json").read_text())
    assert note["streams"] == shown["streams"]


def test_a_loss_is_refused_or_allowed(query: Query, capsys: pytest.CaptureFixture[str]) -> None:
    query.effect, query.loss = Effect.NOTHING, "record 17 is gone"
    assert query.rewind("--allow-unproven") == 1
    shown = capsys.readouterr()
    assert "LOST: record 17 is gone. For the records that are left: no record is" in shown.out
    assert "--allow-data-loss" in shown.err
    assert not query.is_moved
    assert query.rewind("--allow-data-loss", "--json") == 0
    shown = capsys.readouterr()
    (change,) = json.loads(shown.out)["streams"][ARN]
    assert change["loss"] == "record 17 is gone"
    assert query.is_moved


def test_records_that_come_again_are_not_older_than_the_retention_period(
    query: Query, capsys: pytest.CaptureFixture[str]
) -> None:
    assert query.rewind("--dry-run") == 0
    assert "older than the retention period of the stream cannot come" in capsys.readouterr().out


def test_the_help_says_what_the_options_risk(capsys: pytest.CaptureFixture[str]) -> None:
    assert run(["rewind", "--help"]) == 0
    said = " ".join(capsys.readouterr().out.split())
    assert "forget micro-batches that are not completed" in said
    assert "required for each other source" in said
    assert "have expired that the query has not read or would read again" in said


def test_the_first_line_says_to_stop_the_query(
    query: Query, capsys: pytest.CaptureFixture[str]
) -> None:
    assert query.rewind() == 0
    assert capsys.readouterr().err.lstrip().startswith("Stop the query first.")


@pytest.mark.parametrize(
    ("text", "shown"),
    [
        ("TRIM_HORIZON", "trim_horizon"),
        ("Latest", "latest"),
        ("AT:17", "at:17"),
        ("After:17", "after:17"),
        ("2026-11-20T00:00Z", "2026-11-20T00:00:00Z"),
    ],
)
def test_the_position_in_any_case(
    query: Query, capsys: pytest.CaptureFixture[str], text: str, shown: str
) -> None:
    assert query.rewind("--dry-run", "--json", to=text) == 0
    assert json.loads(capsys.readouterr().out)["to"] == shown


def test_another_position_is_answered_with_all_forms(
    query: Query, capsys: pytest.CaptureFixture[str]
) -> None:
    assert query.rewind(to="yesterday") == 2
    said = " ".join(capsys.readouterr().err.split())
    assert "'yesterday' is not a time with a time zone" in said
    assert "trim_horizon, latest, at:NUMBER or after:NUMBER" in said
    assert run(["rewind", "--help"]) == 0
    assert "TIME|trim_horizon|latest|at:NUMBER|after:NUMBER" in capsys.readouterr().out


def test_without_a_terminal_nothing_is_changed_unless_the_user_agreed(
    query: Query, capsys: pytest.CaptureFixture[str]
) -> None:
    place = ["rewind", "--checkpoint", str(query.path), "--to", "latest", "--watch", "0"]
    assert run(place) == 2
    shown = capsys.readouterr()
    assert "unknown: the search ended before" in shown.out, "the plan is shown"
    assert "there is no terminal to ask" in shown.err
    assert "--yes" in shown.err
    assert not query.is_moved
    assert run([*place, "--yes"]) == 0
    assert query.is_moved


@pytest.mark.parametrize(("answer", "code"), [("n", 1), ("y", 0)])
def test_a_terminal_is_asked(
    query: Query, monkeypatch: pytest.MonkeyPatch, answer: str, code: int
) -> None:
    terminal = io.StringIO(f"{answer}\n")
    monkeypatch.setattr(terminal, "isatty", lambda: True)
    monkeypatch.setattr("sys.stdin", terminal)
    place = ["rewind", "--checkpoint", str(query.path), "--to", "latest", "--watch", "0"]
    assert run(place) == code
    assert query.is_moved == (code == 0)


def test_a_query_that_completes_a_batch_while_the_command_watches_is_noticed(
    query: Query, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    def watched(look: Callable[[], Any], _: float) -> Any:
        (query.path / "offsets/1").write_text(f"v1\n{{}}\n{line(30)}")
        return look()

    monkeypatch.setattr(rewinding, "watched", watched)
    assert query.rewind("--watch", "15") == 2
    assert "its query runs. Stop the query first" in capsys.readouterr().err
    assert not query.is_moved


def test_the_command_says_how_to_undo_it(query: Query, capsys: pytest.CaptureFixture[str]) -> None:
    before = (query.path / "offsets/0").read_text()
    assert query.rewind() == 0
    said = capsys.readouterr().out
    (kept,) = (query.path / "rewinds").iterdir()
    assert f"copy {kept}/offsets/0 to {query.path}/offsets/0, then" in said
    assert f"delete {query.path}/offsets/1" in said
    assert (kept / "offsets/0").read_text() == before
