"""The command that starts a local Kinesis."""

from __future__ import annotations

import os
import subprocess
import sys
from pathlib import Path

import pytest

from spark_kinesis import LocalKinesisError
from spark_kinesis._session.jars import spark_homes
from spark_kinesis.local._server import READY, ServerProcess, command, spark_jars


def spark(folder: Path, *jars: str) -> Path:
    """Make a folder of a Spark with these jars."""
    (folder / "jars").mkdir(parents=True)
    for jar in jars:
        (folder / "jars" / jar).touch()
    return folder


def test_both_jars_come_from_one_spark(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    old = spark(tmp_path / "old", "scala-library-2.13.8.jar", "slf4j-api-1.7.32.jar")
    new = spark(tmp_path / "new", "scala-library-2.13.16.jar", "slf4j-api-2.0.16.jar")
    monkeypatch.setattr("spark_kinesis.local._server.spark_homes", lambda: [old, new])
    assert {Path(jar).parent for jar in spark_jars()} == {new / "jars"}
    assert len(spark_jars()) == 2


def test_a_spark_without_scala_is_not_enough(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    half = spark(tmp_path / "half", "slf4j-api-2.0.16.jar")
    monkeypatch.setattr("spark_kinesis.local._server.spark_homes", lambda: [half])
    with pytest.raises(LocalKinesisError, match=r"Scala 2\.13 and slf4j 2"):
        spark_jars()


def test_spark_home_comes_before_the_package(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("SPARK_HOME", str(tmp_path))
    first, *others = spark_homes()
    assert first == tmp_path
    assert [home.name for home in others] == ["pyspark"]


def test_it_ends_with_its_input_and_prints_no_warning(tmp_path: Path) -> None:
    words = tmp_path / "stderr"
    with (
        words.open("w") as stderr,
        subprocess.Popen(
            command({"orders": 2}, port=0),
            stdin=subprocess.PIPE,
            stdout=subprocess.PIPE,
            stderr=stderr,
            text=True,
        ) as process,
    ):
        assert process.stdout is not None
        assert process.stdout.readline().startswith(READY)
        assert process.stdin is not None
        process.stdin.close()
        assert process.wait(30) == 0
    said = words.read_text()
    assert "SLF4J" not in said
    assert "Exception" not in said


# From Python 3.12 on, it warns of each fork beside a thread. These children take no lock of one.
forks = pytest.mark.filterwarnings("ignore:.*multi-threaded.*:DeprecationWarning")


def listening() -> ServerProcess:
    """A process that says its address, and ends with its input."""
    program = f"import sys; print('{READY}http://here', flush=True); sys.stdin.read()"
    process = ServerProcess([sys.executable, "-c", program], shares_stderr=False)
    assert process.endpoint() == "http://here"
    return process


@forks
def test_a_forked_process_neither_loses_nor_stops_the_server() -> None:
    process = listening()
    child = os.fork()
    if not child:
        was_running = process.status is None
        process.stop()
        os._exit(0 if was_running else 1)
    assert os.waitstatus_to_exitcode(os.waitpid(child, 0)[1]) == 0
    assert process.status is None
    process.stop()
    assert process.status == 0


@forks
def test_a_forked_process_that_lives_on_does_not_keep_the_server() -> None:
    process = listening()
    until, end = os.pipe()
    child = os.fork()
    if not child:
        os.close(end)
        os.read(until, 1)  # until the end of the test
        os._exit(0)
    try:
        process.stop()
        assert process.status == 0  # it was not killed
    finally:
        os.close(end)
        os.close(until)
        os.waitpid(child, 0)
