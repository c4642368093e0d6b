"""The command `spark-kinesis`."""

from __future__ import annotations

import json
import re
import subprocess
import sys
from collections.abc import Iterator
from dataclasses import dataclass
from datetime import datetime, timedelta, timezone
from pathlib import Path

import click
import pytest
from botocore.exceptions import NoRegionError
from moto.server import ThreadedMotoServer

import spark_kinesis.__main__
from spark_kinesis import AssumeRole, KinesisSource, Profile, Proxy, SparkKinesisError
from spark_kinesis._boto import CallSettings
from spark_kinesis._extras import CLI, SPARK
from spark_kinesis.tools.cli import (
    Connection,
    connection_options,
    print_json,
    run,
    storage_option,
)
from spark_kinesis.tools.cli.commands import COMMANDS
from spark_kinesis.tools.cli.commands import spark_kinesis as group


@pytest.mark.parametrize("name", COMMANDS)
def test_each_command_has_help(name: str, capsys: pytest.CaptureFixture[str]) -> None:
    assert run([name, "--help"]) == 0
    assert capsys.readouterr().out.startswith(f"Usage: spark-kinesis {name}")


def test_the_list_of_commands_imports_nothing_slow() -> None:
    program = (
        "import sys; from spark_kinesis.tools.cli import run; code = run(['--help']);"
        "assert not {'boto3', 'pyspark'} & set(sys.modules); sys.exit(code)"
    )
    said = subprocess.run(
        [sys.executable, "-c", program], check=True, capture_output=True, text=True
    ).stdout
    assert [it.split()[0] for it in said.splitlines() if it.startswith("  ")][-len(COMMANDS) :]
    for name in COMMANDS:
        assert re.search(rf"^  {name} +[A-Z]", said, re.MULTILINE), said


def command_of(name: str) -> click.Command:
    found = group.get_command(click.Context(group), name)
    assert found is not None
    return found


def words_of(command: click.Command) -> set[str]:
    return {word for it in command.params for word in it.opts}


@pytest.mark.parametrize("name", COMMANDS)
def test_the_commands_that_open_a_checkpoint_take_options_of_its_store(name: str) -> None:
    command = command_of(name)
    for it in command.commands.values() if isinstance(command, click.Group) else [command]:
        words = words_of(it)
        assert ("--checkpoint" in words) == ("--storage-option" in words), it.name


@pytest.mark.parametrize("name", COMMANDS)
def test_each_command_takes_the_same_connection(name: str) -> None:
    command = command_of(name)
    found = words_of(command)
    wanted = {"--endpoint", "--region", "--profile", "--role-arn", "--proxy", "--ca-bundle"}
    # A group has them in its commands. The local Kinesis and the demo call nothing else.
    assert isinstance(command, click.Group) or name in ("local", "demo") or wanted <= found


def test_an_unknown_command_is_refused(capsys: pytest.CaptureFixture[str]) -> None:
    assert run(["nothing"]) == 2
    assert "No such command 'nothing'" in capsys.readouterr().err


def test_a_wrong_value_is_named(capsys: pytest.CaptureFixture[str]) -> None:
    assert run(["local", "--port", "many"]) == 2
    assert "'many' is not a valid int" in capsys.readouterr().err


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
        (SystemExit(0), 2, ""),
    ],
)
def test_failures_have_a_code_and_a_line(
    error: BaseException,
    code: int,
    text: str,
    monkeypatch: pytest.MonkeyPatch,
    capsys: pytest.CaptureFixture[str],
) -> None:
    monkeypatch.setattr("spark_kinesis.tools.demo.run", Failing(error))
    assert run(["demo"]) == code
    assert capsys.readouterr().err.endswith(text)


def test_a_defect_is_no_finding_and_shows_where_it_is(
    monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    monkeypatch.setattr("spark_kinesis.tools.demo.run", Failing(ZeroDivisionError("defect")))
    assert run(["demo"]) == 2
    err = capsys.readouterr().err
    assert "Traceback" in err
    assert err.endswith("spark-kinesis: defect\n")


def test_a_defect_shows_no_keys(
    monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    error = ZeroDivisionError("http://user:SECRET@127.0.0.1:9")
    monkeypatch.setattr("spark_kinesis.tools.demo.run", Failing(error))
    assert run(["demo"]) == 2
    assert "SECRET" not in capsys.readouterr().err


@pytest.mark.parametrize("command", ["doctor", "tail --stream orders"])
def test_a_wrong_proxy_is_named_without_its_password(
    command: str, capsys: pytest.CaptureFixture[str]
) -> None:
    place = ["--region", "eu-west-1", "--proxy", "http://user:SECRET/x@127.0.0.1:9"]
    assert run([*command.split(), *place]) == 2
    said = capsys.readouterr()
    assert "--proxy: no URL such as http://host:3128" in said.err
    assert "SECRET" not in said.out + said.err


def test_a_duration_that_no_clock_has_is_refused(capsys: pytest.CaptureFixture[str]) -> None:
    assert run(["audit", "--stream", "orders", "--since", "999999d"]) == 2
    said = capsys.readouterr().err
    assert "Invalid value for '--since'" in said
    assert "Traceback" not in said


def test_a_file_that_cannot_be_written_is_an_error(
    monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    monkeypatch.setattr("spark_kinesis.tools.demo.run", Failing(PermissionError(13, "no", "/x")))
    assert run(["demo"]) == 2
    assert capsys.readouterr().err.endswith("spark-kinesis: [Errno 13] no: '/x'\n")


def test_a_reader_that_ends_is_no_error() -> None:
    words = f"{sys.executable} -m spark_kinesis local --help | true; echo ${{PIPESTATUS[0]}}"
    ended = subprocess.run(["bash", "-c", words], check=True, capture_output=True, text=True)
    assert (ended.stdout, ended.stderr) == ("0\n", "")


def test_a_missing_package_is_named(
    monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    for name in [it for it in sys.modules if it.startswith("spark_kinesis.tools.cli")]:
        monkeypatch.delitem(sys.modules, name)
    monkeypatch.setitem(sys.modules, "click", None)
    assert spark_kinesis.__main__.main() == 2
    advice = "pip install click rich boto3 aws_kinesis_agg six"
    assert capsys.readouterr().err == f"spark-kinesis needs click: {advice}\n"


def test_another_import_that_fails_is_no_finding(
    monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    monkeypatch.setitem(sys.modules, "spark_kinesis.tools.cli", None)
    assert spark_kinesis.__main__.main() == 2
    said = "spark-kinesis: import of spark_kinesis.tools.cli halted; None in sys.modules\n"
    assert capsys.readouterr().err == said


def test_the_packages_in_messages_are_those_of_the_extras() -> None:
    project = (Path(__file__).resolve().parents[2] / "pyproject.toml").read_text(encoding="utf-8")
    (cli,) = re.findall(r"^cli = \[(.*)\]$", project, re.MULTILINE)
    assert re.findall(r'"(\w+)>', cli) == CLI.split()
    assert f'spark = ["{SPARK.strip(chr(39))}"]' in project


def test_connection_options_are_one_argument() -> None:
    found: list[tuple[str, Connection]] = []

    @click.command("odd")
    @click.argument("name")
    @storage_option
    @connection_options
    def odd(name: str, connection: Connection) -> None:
        found.append((name, connection))

    words = ["orders", "--endpoint", "http://127.0.0.1:1", "--region", "r", "--profile", "p"]
    words += ["--role-arn", "arn:aws:iam::1:role/r", "--external-id", "e", "--proxy", "http://p:1"]
    words += ["--storage-option", "secret=hidden"]
    odd.main(words, standalone_mode=False)
    settings = CallSettings(role_arn="arn:aws:iam::1:role/r", external_id="e", proxy="http://p:1")
    store = {"secret": "hidden"}
    assert found == [("orders", Connection("odd", "http://127.0.0.1:1", "r", "p", settings, store))]
    assert "hidden" not in repr(found)


def test_the_source_gets_the_same_connection() -> None:
    settings = CallSettings(role_arn="arn:r", external_id="e", proxy="http://me:s%2F@p:1")
    connection = Connection("odd", region="eu-west-1", profile="p", settings=settings)
    source = KinesisSource(stream_name="orders", **connection.source_arguments())
    assert source.role == AssumeRole(arn="arn:r", external_id="e")
    assert source.proxy == Proxy(url="http://p:1", username="me", password="s/")
    assert source.credentials == Profile(name="p")
    assert "s/" not in repr(connection)
    assert "s%2F" not in repr(connection)


def test_a_local_endpoint_uses_the_keys_of_the_environment(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    connection = Connection("odd", "http://127.0.0.1:1")
    monkeypatch.delenv("AWS_ACCESS_KEY_ID", raising=False)
    assert connection.session().get_credentials().access_key == "local"
    assert connection.source_arguments()["credentials"] is not None
    monkeypatch.setenv("AWS_ACCESS_KEY_ID", "mine")
    monkeypatch.setenv("AWS_SECRET_ACCESS_KEY", "secret")
    assert connection.session().get_credentials().access_key == "mine"
    assert connection.source_arguments()["credentials"] is None


def test_a_role_is_assumed_with_the_keys_of_the_caller(
    moto_sts: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("AWS_ENDPOINT_URL_STS", moto_sts)
    monkeypatch.setenv("AWS_ACCESS_KEY_ID", "mine")
    monkeypatch.setenv("AWS_SECRET_ACCESS_KEY", "secret")
    settings = CallSettings(role_arn="arn:aws:iam::123456789012:role/reader", external_id="extern")
    session = Connection("odd", region="us-east-1", settings=settings).session()
    keys = session.get_credentials().get_frozen_credentials()
    assert keys.token
    assert keys.access_key != "mine"
    caller = session.client("sts").get_caller_identity()
    assert "assumed-role/reader/spark-kinesis" in caller["Arn"]


@pytest.fixture
def moto_sts() -> Iterator[str]:
    server = ThreadedMotoServer(port=0, verbose=False)
    server.start()
    host, port = server.get_host_and_port()
    yield f"http://{host}:{port}"
    server.stop()


def test_json_has_times_in_utc(capsys: pytest.CaptureFixture[str]) -> None:
    east = timezone(timedelta(hours=2))
    print_json({"at": datetime(2026, 1, 2, 3, tzinfo=east), "for": timedelta(minutes=1)})
    assert json.loads(capsys.readouterr().out) == {"at": "2026-01-02T01:00:00Z", "for": 60.0}
