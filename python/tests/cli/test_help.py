"""What the help of every command and subcommand contains."""

from __future__ import annotations

import re

import click
import pytest

from spark_kinesis.tools.cli import run
from spark_kinesis.tools.cli.commands import COMMANDS
from spark_kinesis.migrate.command import migrate

PATHS = [
    *COMMANDS,
    *(f"migrate {it}" for it in migrate.list_commands(click.Context(migrate))),
    *(f"consumers {it}" for it in ("list", "register", "deregister")),
]


@pytest.mark.parametrize("path", PATHS)
def test_help_has_an_example_and_exit_codes(path: str, capsys: pytest.CaptureFixture[str]) -> None:
    try:
        code = run([*path.split(), "--help"])
    except SystemExit as end:  # argparse's
        code = int(str(end.code))
    text = capsys.readouterr().out
    assert code == 0
    assert re.search(rf"^ +spark-kinesis {path}( |$)", text, re.MULTILINE), text
    codes = re.search(r"Exit codes?: *(.*)", " ".join(text.split()))
    assert codes is not None, text
    assert re.match("[01]", codes[1]), text
    assert "\\b" not in text
    assert "\b" not in text
