"""What the help of every command and subcommand contains."""

from __future__ import annotations

import re

import click
import pytest

from spark_kinesis.tools.cli import run
from spark_kinesis.tools.cli.commands import COMMANDS
from spark_kinesis.tools.handover.command import migrate

PATHS = [
    *COMMANDS,
    *(f"migrate {it}" for it in migrate.list_commands(click.Context(migrate))),
]


@pytest.mark.parametrize("path", PATHS)
def test_help_has_an_example_and_exit_codes(path: str, capsys: pytest.CaptureFixture[str]) -> None:
    assert run([*path.split(), "--help"]) == 0
    text = capsys.readouterr().out
    assert re.search(rf"^ +spark-kinesis {path}( |$)", text, re.MULTILINE), text
    codes = re.search(r"Exit codes?: *(.*)", " ".join(text.split()))
    assert codes is not None, text
    assert re.match("[01]", codes[1]), text
    assert "\\b" not in text
    assert "\b" not in text
