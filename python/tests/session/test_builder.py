"""`with_kinesis` adds the jar, and keeps every jar that the user set."""

from __future__ import annotations

import os
from pathlib import Path

import pytest
from pyspark import SparkContext
from pyspark.sql import SparkSession

from spark_kinesis import (
    JarNotFoundError,
    KinesisJarMissingError,
    SparkKinesisError,
    with_kinesis,
)


@pytest.fixture
def jar(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> str:
    """A jar, in an environment without other settings of Spark."""
    path = tmp_path / "connector.jar"
    path.touch()
    monkeypatch.setenv("SPARK_KINESIS_JAR", str(path))
    for name in ("PYSPARK_SUBMIT_ARGS", "SPARK_HOME", "SPARK_CONF_DIR", "SPARK_REMOTE"):
        monkeypatch.setenv(name, "")  # so that pytest restores it after the test
        monkeypatch.delenv(name)
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


def test_adding_the_jar_twice_adds_it_once(jar: str) -> None:
    assert jars_of(with_kinesis(with_kinesis(fresh()))) == [jar]


def test_a_jar_of_its_name_stays(jar: str) -> None:
    builder = with_kinesis(fresh().config("spark.jars", "file:/elsewhere/connector.jar"))
    assert jars_of(builder) == ["file:/elsewhere/connector.jar"]
    assert Path(jar).name == "connector.jar"


def test_other_settings_stay(jar: str) -> None:
    builder = fresh().config("spark.jars.excludes", "a:b").appName("mine")
    options = with_kinesis(builder)._options
    assert options["spark.jars.excludes"] == "a:b"
    assert options["spark.app.name"] == "mine"
    assert jars_of(builder) == [jar]


def test_packages_of_the_builder_are_resolved_into_jars_that_stay(jar: str) -> None:
    builder = fresh().config("spark.jars.packages", "a:b:1")
    with_kinesis(with_kinesis(builder))
    assert jars_of(builder) == []  # they would replace the jars of the packages
    assert os.environ["PYSPARK_SUBMIT_ARGS"] == f"--jars {jar} pyspark-shell"


def test_a_package_that_is_the_connector_needs_no_jar(jar: str) -> None:
    builder = fresh().config("spark.jars.packages", "org:spark-kinesis_2.13:0.1.0")
    assert jars_of(with_kinesis(builder)) == []
    assert jar not in os.environ.get("PYSPARK_SUBMIT_ARGS", "")


def test_packages_of_the_submit_arguments_count_and_not_those_of_the_builder(
    jar: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    ours, other = "org:spark-kinesis_2.13:0.1.0", "a:b:1"
    monkeypatch.setenv("PYSPARK_SUBMIT_ARGS", f"--packages {other} pyspark-shell")
    with_kinesis(fresh().config("spark.jars.packages", ours))
    assert os.environ["PYSPARK_SUBMIT_ARGS"] == f"--packages {other} --jars {jar} pyspark-shell"
    monkeypatch.setenv("PYSPARK_SUBMIT_ARGS", f"--packages {ours} pyspark-shell")
    assert jars_of(with_kinesis(fresh().config("spark.jars.packages", other))) == []
    assert os.environ["PYSPARK_SUBMIT_ARGS"] == f"--packages {ours} pyspark-shell"


def test_packages_of_the_defaults_file_stay(
    jar: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    (tmp_path / "spark-defaults.conf").write_text("spark.jars a.jar\nspark.jars.packages a:b:1\n")
    monkeypatch.setenv("SPARK_CONF_DIR", str(tmp_path))
    assert jars_of(with_kinesis(fresh())) == []
    assert os.environ["PYSPARK_SUBMIT_ARGS"] == f"--jars a.jar,{jar} pyspark-shell"


def real_time_settings(builder: SparkSession.Builder) -> dict[str, object]:
    options = builder._options
    return {name: value for name, value in options.items() if "realTimeMode" in name}


def test_real_time_mode_is_set_up_only_if_asked(jar: str) -> None:
    assert real_time_settings(with_kinesis(fresh())) == {}
    builder = with_kinesis(fresh(), real_time=True)
    prefix = "spark.sql.streaming.realTimeMode"
    assert real_time_settings(builder) == {
        f"{prefix}.allowlistCheck": "false",
        f"{prefix}.asyncProgressTrackingByDefault.enabled": "false",
    }
    assert jars_of(builder) == [jar]


def test_real_time_mode_is_set_up_in_a_session_of_spark_connect(jar: str) -> None:
    builder = with_kinesis(fresh().remote("sc://host"), real_time=True)
    assert len(real_time_settings(builder)) == 2
    assert jars_of(builder) == []
    assert Path(jar).exists()


class Jvm:
    """A running JVM as Py4J shows it, with the connector or without."""

    def __init__(self, *, has_connector: bool) -> None:
        self.has_connector = has_connector

    def __getattr__(self, name: str) -> Jvm:
        return self

    def get(self) -> str:
        return "the configuration"

    def lookupDataSource(self, name: str, conf: str) -> str:  # noqa: N802 Spark's name
        if not self.has_connector:
            raise RuntimeError(f"[DATA_SOURCE_NOT_FOUND] Failed to find the data source: {name}. ")
        return conf


def test_a_running_jvm_with_the_connector_needs_nothing(
    jar: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(SparkContext, "_jvm", Jvm(has_connector=True))
    assert jars_of(with_kinesis(fresh())) == []
    assert "PYSPARK_SUBMIT_ARGS" not in os.environ
    assert Path(jar).exists()


def test_jars_of_the_builder_replace_those_of_a_running_jvm_but_not_ours(
    jar: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(SparkContext, "_jvm", Jvm(has_connector=True))
    assert jars_of(with_kinesis(fresh().config("spark.jars", "one.jar"))) == ["one.jar", jar]


def test_a_running_jvm_without_the_connector_is_refused_with_advice(
    jar: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(SparkContext, "_jvm", Jvm(has_connector=False))
    builder = fresh()
    with pytest.raises(KinesisJarMissingError, match="new Python process or kernel") as raised:
        with_kinesis(builder)
    for said in ("jar_path()", "--jars", "%%configure", "--extra-jars", "Databricks"):
        assert said in str(raised.value)
    assert jars_of(builder) == []
    assert Path(jar).exists()


def test_another_error_of_the_jvm_is_not_hidden(monkeypatch: pytest.MonkeyPatch) -> None:
    class Broken(Jvm):
        def get(self) -> str:
            raise RuntimeError("the JVM has ended")

    monkeypatch.setattr(SparkContext, "_jvm", Broken(has_connector=True))
    with pytest.raises(RuntimeError, match="the JVM has ended"):
        with_kinesis(fresh())


@pytest.mark.parametrize("line", ["spark.jars  a.jar,b.jar", "spark.jars=a.jar,b.jar"])
def test_jars_of_the_defaults_file_stay(
    jar: str, line: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    (tmp_path / "spark-defaults.conf").write_text(f"# ours\nspark.jars.ivy x\n{line}\n")
    monkeypatch.setenv("SPARK_CONF_DIR", str(tmp_path))
    assert jars_of(with_kinesis(fresh())) == ["a.jar", "b.jar", jar]


@pytest.mark.parametrize(
    ("before", "jars"),
    [
        ("--jars a.jar", "a.jar,"),
        ("--jars=a.jar", "a.jar,"),
        ("--jars a.jar --jars b.jar", "b.jar,"),
        ("--conf spark.jars=a.jar", "a.jar,"),
        ("--conf=spark.jars=a.jar", "a.jar,"),
        ("--packages a:b:1 --jars a.jar", "a.jar,"),
        ("--packages a:b:1", ""),
    ],
)
def test_jars_of_the_submit_arguments_stay(
    jar: str, before: str, jars: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("PYSPARK_SUBMIT_ARGS", f"{before} pyspark-shell")
    builder = with_kinesis(fresh())
    after = f"{before} --jars {jars}{jar} pyspark-shell"
    assert os.environ["PYSPARK_SUBMIT_ARGS"] == after
    assert jars_of(builder) == []  # they would replace the others in the session
    with_kinesis(builder)
    assert os.environ["PYSPARK_SUBMIT_ARGS"] == after


def test_submit_arguments_without_jars_are_left_alone(
    jar: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("PYSPARK_SUBMIT_ARGS", "--master local[2] pyspark-shell")
    assert jars_of(with_kinesis(fresh())) == [jar]
    assert os.environ["PYSPARK_SUBMIT_ARGS"] == "--master local[2] pyspark-shell"


def test_jars_of_the_builder_and_of_the_submit_arguments_stay_apart(
    jar: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("PYSPARK_SUBMIT_ARGS", "--jars a.jar pyspark-shell")
    builder = fresh().config("spark.jars", "one.jar").config("spark.jars.packages", "a:b:1")
    assert jars_of(with_kinesis(builder)) == ["one.jar", jar]
    assert os.environ["PYSPARK_SUBMIT_ARGS"] == f"--jars a.jar --jars a.jar,{jar} pyspark-shell"


def test_a_local_connect_session_gets_the_jar(jar: str) -> None:
    assert jars_of(with_kinesis(fresh().remote("local[2]"))) == [jar]


def test_a_remote_server_needs_no_jar_from_here(jar: str) -> None:
    assert jars_of(with_kinesis(fresh().remote("sc://host:15002"))) == []
    assert Path(jar).exists()


def test_no_jar_is_an_error(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("SPARK_KINESIS_JAR", "nowhere.jar")
    with pytest.raises(JarNotFoundError, match=r"SPARK_KINESIS_JAR is 'nowhere\.jar'"):
        with_kinesis(fresh())


def test_an_option_without_a_value_names_the_variable(
    jar: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("PYSPARK_SUBMIT_ARGS", "--jars")
    with pytest.raises(SparkKinesisError, match="PYSPARK_SUBMIT_ARGS: argument --jars"):
        with_kinesis(fresh())
    assert Path(jar).is_file()
