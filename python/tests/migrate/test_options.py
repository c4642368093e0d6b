"""The options of all ways into a new checkpoint."""

from __future__ import annotations

from pathlib import Path

import pytest

from spark_kinesis.tools.cli import run


def test_the_help_has_words_that_the_option_accepts(capsys: pytest.CaptureFixture[str]) -> None:
    assert run(["migrate", "kcl", "--help"]) == 0
    said = " ".join(capsys.readouterr().out.split())
    assert "--begin TIME|trim_horizon|latest" in said
    assert "where to begin in shards whose positions do not say which records were read" in said


def test_another_position_is_answered_with_all_forms(capsys: pytest.CaptureFixture[str]) -> None:
    words = ["migrate", "kcl", "app", "--checkpoint", "new", "--begin", "soon"]
    assert run(words) == 2
    said = " ".join(capsys.readouterr().err.split())
    assert "'soon' is not trim_horizon, latest, or a time with a time zone" in said


@pytest.mark.parametrize(
    "words", ["kcl app", "to-kcl app", "awslabs {old} --dynamodb-table metadata"]
)
def test_a_kinesis_elsewhere_has_no_table_on_aws(
    words: str, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    place = ["--checkpoint", str(tmp_path / "new"), "--endpoint", "http://kinesis.test:4566"]
    assert run(["migrate", *words.format(old=tmp_path).split(), *place]) == 2
    said = " ".join(capsys.readouterr().err.split())
    assert "--endpoint http://kinesis.test:4566 is not that of AWS" in said
    assert "--dynamodb-endpoint" in said
