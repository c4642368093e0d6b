"""The jar joins a session; nothing the user set goes missing."""

from __future__ import annotations

import os
from pathlib import Path

import pytest
from pyspark.sql import SparkSession

from spark_kinesis import JarNotFound, KinesisJarMissing, with_kinesis
from spark_kinesis._session import explain_missing_jar


@pytest.fixture
def jar(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> str:
    """A jar of our own, in an environment that says nothing else."""
    path = tmp_path / "connector.jar"
    path.touch()
    monkeypatch.setenv("SPARK_KINESIS_JAR", str(path))
    for name in ("PYSPARK_SUBMIT_ARGS", "SPARK_HOME", "SPARK_CONF_DIR", "SPARK_REMOTE"):
        monkeypatch.delenv(name, raising=False)
    return str(path)


def fresh() -> SparkSession.Builder:
    return SparkSession.Builder()


def jars_of(builder: SparkSession.Builder) -> list[str]:
    jars: str = builder._options.get("spark.jars", "")
    return jars.split(",") if jars else []


def test_the_jar_is_added(jar: str) -> None:
    builder = fresh()
    assert with_kinesis(builder) is builder
    assert jars_of(builder) == [jar]


def test_jars_of_the_builder_stay(jar: str) -> None:
    builder = fresh().config("spark.jars", "one.jar, two.jar")
    assert jars_of(with_kinesis(builder)) == ["one.jar", "two.jar", jar]


def test_twice_is_once(jar: str) -> None:
    assert jars_of(with_kinesis(with_kinesis(fresh()))) == [jar]


def test_other_settings_stay(jar: str) -> None:
    builder = fresh().config("spark.jars.packages", "a:b:1").appName("mine")
    options = with_kinesis(builder)._options
    assert options["spark.jars.packages"] == "a:b:1"
    assert options["spark.app.name"] == "mine"
    assert jars_of(builder) == [jar]


@pytest.mark.parametrize("line", ["spark.jars  a.jar,b.jar", "spark.jars=a.jar,b.jar"])
def test_jars_of_the_defaults_file_stay(
    jar: str, line: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    (tmp_path / "spark-defaults.conf").write_text(f"# ours\nspark.jars.ivy x\n{line}\n")
    monkeypatch.setenv("SPARK_CONF_DIR", str(tmp_path))
    assert jars_of(with_kinesis(fresh())) == ["a.jar", "b.jar", jar]


@pytest.mark.parametrize(
    ("before", "after"),
    [
        ("--jars a.jar pyspark-shell", "--jars a.jar,{jar} pyspark-shell"),
        ("--jars=a.jar pyspark-shell", "--jars=a.jar,{jar} pyspark-shell"),
        ("--conf spark.jars=a.jar pyspark-shell", "--conf spark.jars=a.jar,{jar} pyspark-shell"),
        ("--master local[2] pyspark-shell", "--master 'local[2]' pyspark-shell"),
    ],
)
def test_jars_of_the_submit_arguments_stay(
    jar: str, before: str, after: str, monkeypatch: pytest.MonkeyPatch
) -> None:

    monkeypatch.setenv("PYSPARK_SUBMIT_ARGS", before)
    with_kinesis(fresh())
    assert os.environ["PYSPARK_SUBMIT_ARGS"] == after.format(jar=jar)


def test_a_local_connect_session_gets_the_jar(jar: str) -> None:
    assert jars_of(with_kinesis(fresh().remote("local[2]"))) == [jar]


def test_a_remote_server_brings_its_own(jar: str) -> None:
    assert jars_of(with_kinesis(fresh().remote("sc://host:15002"))) == []
    assert Path(jar).exists()


def test_no_jar_is_an_error(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("SPARK_KINESIS_JAR", "nowhere.jar")
    with pytest.raises(JarNotFound, match=r"SPARK_KINESIS_JAR is 'nowhere\.jar'"):
        with_kinesis(fresh())


def test_spark_missing_the_source_is_explained() -> None:
    def fail(message: str) -> None:
        with explain_missing_jar():
            raise RuntimeError(message)

    with pytest.raises(KinesisJarMissing, match="with_kinesis") as caught:
        fail("[DATA_SOURCE_NOT_FOUND] Failed to find the data source: kinesis")
    assert isinstance(caught.value.__cause__, RuntimeError)
    with pytest.raises(RuntimeError, match="something else"):
        fail("something else")
