"""Where the jars are found."""

from __future__ import annotations

import zipfile
from pathlib import Path

import pytest

import spark_kinesis
from spark_kinesis import JarNotFoundError, jar_path
from spark_kinesis._jar import simulator_jar_path


def test_the_installed_package_carries_both_jars(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.delenv("SPARK_KINESIS_JAR", raising=False)
    monkeypatch.delenv("SPARK_KINESIS_SIMULATOR_JAR", raising=False)
    for path in (jar_path(), simulator_jar_path()):
        assert Path(path).is_absolute()
        assert path.endswith(f"-{spark_kinesis.__version__}.jar")
        assert zipfile.is_zipfile(path)


def test_the_environment_comes_first(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    mine = tmp_path / "mine.jar"
    mine.touch()
    monkeypatch.setenv("SPARK_KINESIS_JAR", str(mine))
    assert jar_path() == str(mine)


def test_a_wrong_override_is_not_ignored(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("SPARK_KINESIS_JAR", "gone.jar")
    with pytest.raises(JarNotFoundError, match=r"SPARK_KINESIS_JAR is 'gone\.jar'"):
        jar_path()
