"""The command `spark-kinesis`."""

from __future__ import annotations

import json
import sys
from dataclasses import dataclass
from datetime import datetime, timedelta, timezone
from importlib import import_module

import click
import pytest
from botocore.exceptions import NoRegionError

import spark_kinesis.__main__
from spark_kinesis import SparkKinesisError
from spark_kinesis.tools.cli import Connection, connection_options, print_json, run
from spark_kinesis.tools.cli.commands import COMMANDS


@pytest.mark.parametrize("name", COMMANDS)
def test_each_command_has_help(name: str, capsys: pytest.CaptureFixture[str]) -> None:
    try:
        code = run([name, "--help"])
    except SystemExit as end:  # argparse's
        code = int(str(end.code))
    out = capsys.readouterr().out
    assert code == 0
    assert out.lower().startswith(f"usage: spark-kinesis {name}")


@pytest.mark.parametrize("name", COMMANDS)
def test_each_command_is_in_the_list(name: str, capsys: pytest.CaptureFixture[str]) -> None:
    before = set(sys.modules)
    assert run(["--help"]) == 0
    assert f"\n  {name} " in capsys.readouterr().out
    assert "boto3" not in set(sys.modules) - before  # the list is quick


def test_each_command_is_importable() -> None:
    for entry in COMMANDS.values():
        module, name = entry.place.split(":")
        assert callable(getattr(import_module(module), name))


def test_an_unknown_command_is_refused(capsys: pytest.CaptureFixture[str]) -> None:
    assert run(["nothing"]) == 2
    assert "No such command 'nothing'" in capsys.readouterr().err


def test_a_program_reads_its_own_words(capsys: pytest.CaptureFixture[str]) -> None:
    with pytest.raises(SystemExit) as end:
        run(["local", "--port", "many"])
    assert end.value.code == 2
    assert "'many' is not a port" in capsys.readouterr().err


@dataclass
class Failing:
    error: BaseException

    def __call__(self, *_: object, **__: object) -> None:
        raise self.error


@pytest.mark.parametrize(
    ("error", "code", "text"),
    [
        (SparkKinesisError("no stream 'orders'"), 2, "spark-kinesis: no stream 'orders'\n"),
        (NoRegionError(), 2, "spark-kinesis: You must specify a region.\n"),
        (KeyboardInterrupt(), 130, ""),
        (click.UsageError("odd"), 2, "Error: odd\n"),
    ],
)
def test_failures_have_a_code_and_a_line(
    error: BaseException,
    code: int,
    text: str,
    monkeypatch: pytest.MonkeyPatch,
    capsys: pytest.CaptureFixture[str],
) -> None:
    monkeypatch.setattr("spark_kinesis.demo.__main__.main", Failing(error))
    assert run(["demo"]) == code
    assert capsys.readouterr().err.endswith(text)


def test_a_defect_shows_where_it_is(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("spark_kinesis.demo.__main__.main", Failing(ZeroDivisionError()))
    with pytest.raises(ZeroDivisionError):
        run(["demo"])


def test_a_missing_package_is_named(
    monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    for name in [it for it in sys.modules if it.startswith("spark_kinesis.tools.cli")]:
        monkeypatch.delitem(sys.modules, name)
    monkeypatch.setitem(sys.modules, "click", None)
    assert spark_kinesis.__main__.main() == 2
    assert (
        capsys.readouterr().err == "spark-kinesis needs click: pip install 'spark-kinesis[cli]'\n"
    )


def test_connection_options_are_one_argument() -> None:
    found: list[tuple[str, Connection]] = []

    @click.command("odd")
    @click.argument("name")
    @connection_options
    def odd(name: str, connection: Connection) -> None:
        found.append((name, connection))

    words = ["orders", "--endpoint", "http://127.0.0.1:1", "--region", "r", "--profile", "p"]
    odd.main(words, standalone_mode=False)
    assert found == [("orders", Connection("odd", "http://127.0.0.1:1", "r", "p"))]


def test_json_has_times_in_utc(capsys: pytest.CaptureFixture[str]) -> None:
    east = timezone(timedelta(hours=2))
    print_json({"at": datetime(2026, 1, 2, 3, tzinfo=east), "for": timedelta(minutes=1)})
    assert json.loads(capsys.readouterr().out) == {"at": "2026-01-02T01:00:00Z", "for": 60.0}
