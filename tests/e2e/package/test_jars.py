"""The jar of the connector comes in addition to all jars that a user sets, in any way."""

from __future__ import annotations

import json
import sys
import zipfile
from pathlib import Path
from typing import Any

import pytest

from spark_kinesis import jar_path
from tests.e2e.support.programs import FOLDER, run, run_app

pytestmark = [pytest.mark.spark4, pytest.mark.slow]

CONNECTOR = Path(jar_path()).name
SPARK_SUBMIT = str(Path(sys.executable).with_name("spark-submit"))
KINDS = pytest.mark.parametrize("kind", ["classic", "connect"])
IVY = """<ivysettings>
  <settings defaultResolver="here"/>
  <resolvers>
    <filesystem name="here" m2compatible="true">
      <artifact pattern="{folder}/[module]-[revision].[ext]"/>
    </filesystem>
  </resolvers>
</ivysettings>
"""


@pytest.fixture
def other(tmp_path: Path) -> Path:
    """A jar of the user, without classes."""
    jar = tmp_path / "other-1.0.jar"
    with zipfile.ZipFile(jar, "w") as opened:
        opened.writestr("other.txt", "of the user")
    return jar


def seen(stdout: str) -> dict[str, Any]:
    told: dict[str, Any] = json.loads(stdout.splitlines()[-1])
    return told


def package_settings(other: Path) -> list[str]:
    """Settings with which `spark.jars.packages` finds the jar in a folder, without a network."""
    (other.parent / "ivysettings.xml").write_text(IVY.format(folder=other.parent))
    return [
        "spark.jars.packages=ours:other:1.0",
        f"spark.jars.ivySettings={other.parent / 'ivysettings.xml'}",
        f"spark.jars.ivy={other.parent / 'ivy'}",
    ]


@KINDS
def test_with_kinesis_keeps_spark_jars_packages(kind: str, other: Path, tmp_path: Path) -> None:
    said = seen(run_app("extra_jars", kind, *package_settings(other), cwd=tmp_path).stdout)
    assert said["jars"] == ["ours_other-1.0.jar", CONNECTOR]


@KINDS
def test_with_kinesis_keeps_the_jars_of_pyspark_submit_args(
    kind: str, other: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("PYSPARK_SUBMIT_ARGS", f"--jars {other} pyspark-shell")
    said = seen(run_app("extra_jars", kind, cwd=tmp_path).stdout)
    assert said["jars"] == [other.name, CONNECTOR]


# Classic only: a local Connect server does not start under the spark-submit of pip's pyspark.
def test_with_kinesis_keeps_the_jars_of_spark_submit(other: Path, tmp_path: Path) -> None:
    said = submitted(tmp_path, str(other), jar_path())
    assert said["jars"] == [other.name, CONNECTOR]


def test_spark_submit_without_the_connector_is_refused_at_once(other: Path, tmp_path: Path) -> None:
    said = submitted(tmp_path, str(other))
    assert "spark-submit --jars" in said["refused"]
    assert "jar_path()" in said["refused"]


def submitted(folder: Path, *jars: str) -> dict[str, Any]:
    """What the program says under spark-submit, with these jars."""
    app = [str(FOLDER / "extra_jars.py"), "classic"]
    return seen(run([SPARK_SUBMIT, "--jars", ",".join(jars), *app], cwd=folder).stdout)
