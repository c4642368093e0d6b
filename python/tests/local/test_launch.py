"""The command that starts a local Kinesis."""

from __future__ import annotations

import subprocess
from datetime import timedelta
from pathlib import Path
from typing import Any

import pytest

from spark_kinesis import LocalKinesisError
from spark_kinesis._session.jars import spark_homes
from spark_kinesis.local import LocalKinesis
from spark_kinesis.local._kinesis import READY, _spark_jars, command


def spark(folder: Path, *jars: str) -> Path:
    """Make a folder of a Spark with these jars."""
    (folder / "jars").mkdir(parents=True)
    for jar in jars:
        (folder / "jars" / jar).touch()
    return folder


def test_both_jars_come_from_one_spark(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    old = spark(tmp_path / "old", "scala-library-2.13.8.jar", "slf4j-api-1.7.32.jar")
    new = spark(tmp_path / "new", "scala-library-2.13.16.jar", "slf4j-api-2.0.16.jar")
    monkeypatch.setattr("spark_kinesis.local._kinesis.spark_homes", lambda: [old, new])
    assert {Path(jar).parent for jar in _spark_jars()} == {new / "jars"}
    assert len(_spark_jars()) == 2


def test_a_spark_without_scala_is_not_enough(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    half = spark(tmp_path / "half", "slf4j-api-2.0.16.jar")
    monkeypatch.setattr("spark_kinesis.local._kinesis.spark_homes", lambda: [half])
    with pytest.raises(LocalKinesisError, match=r"Scala 2\.13 and slf4j 2"):
        _spark_jars()


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


def test_only_settings_that_were_given_are_arguments() -> None:
    settings = {"persist": None, "list_lag": timedelta(seconds=2), "empty_pages": 0.5}
    words = command({"orders": 2}, 0, settings, heap="512m")
    assert "-Xmx512m" in words
    given = ["--list-lag", "2000ms", "--empty-pages", "0.5", "--stream", "orders:2"]
    assert words[words.index("--port") + 2 :] == [*given, "--stop-with-stdin"]


@pytest.mark.parametrize(
    ("settings", "said"),
    [
        ({"clock": "simulatd"}, "Invalid argument '--clock simulatd'"),
        ({"behaviour": {"empty_page": 1}}, "Invalid argument '--empty-page 1'"),
        ({"list_lag": timedelta(seconds=-1)}, "Invalid argument '--list-lag -1000ms'"),
        ({"heap": "much"}, "Invalid maximum heap size: -Xmxmuch"),
    ],
)
def test_a_start_that_the_server_refuses_says_why(settings: dict[str, Any], said: str) -> None:
    kinesis = LocalKinesis(**settings)
    with pytest.raises(LocalKinesisError, match=f"(?s)did not start:.*{said}"):
        kinesis.start()
    assert not kinesis.is_running
