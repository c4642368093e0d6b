"""The options of all ways into a new checkpoint."""

from __future__ import annotations

from typing import TYPE_CHECKING

from spark_kinesis.tools.cli import run

if TYPE_CHECKING:
    import pytest


def test_the_help_has_words_that_the_option_accepts(capsys: pytest.CaptureFixture[str]) -> None:
    assert run(["migrate", "kcl", "--help"]) == 0
    said = " ".join(capsys.readouterr().out.split())
    assert "--begin trim_horizon|latest|TIME" in said
    assert "where to begin in shards whose positions do not say which records were read" in said


def test_another_position_is_answered_with_all_forms(capsys: pytest.CaptureFixture[str]) -> None:
    words = ["migrate", "kcl", "app", "--checkpoint", "new", "--begin", "soon"]
    assert run(words) == 2
    said = " ".join(capsys.readouterr().err.split())
    assert "'soon' is not trim_horizon, latest, or a time with a time zone" in said
