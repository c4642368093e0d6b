"""Which versions and jars fit together, from facts made up."""

from __future__ import annotations

from dataclasses import replace
from typing import TYPE_CHECKING, Any

import pytest

from spark_kinesis.tools.examination import Finding, State
from spark_kinesis.tools.examination.installed import (
    Installed,
    Jar,
    find_installed,
    named_jar,
    numbers,
)
from spark_kinesis.tools.examination.software import software_findings

if TYPE_CHECKING:
    from pathlib import Path

GOOD = Installed(
    is_session=True,
    package="0.1.0",
    python="3.11.7",
    java="17.0.15",
    spark="4.0.5",
    scala="2.13",
    jars=(Jar(place="/a/spark-kinesis_2.13-0.1.0.jar", scala="2.13", version="0.1.0"),),
    has_connector=True,
)
BEFORE = replace(GOOD, is_session=False, jars=())


def of(found: Installed, subject: str) -> list[Finding]:
    return [it for it in software_findings(found) if it.subject == subject]


def test_what_fits_is_ok() -> None:
    for found in (GOOD, BEFORE, replace(GOOD, jars=None)):
        assert {it.state for it in software_findings(found)} == {State.OK}


@pytest.mark.parametrize(
    ("subject", "version", "state"),
    [
        ("python", "3.10.0", State.OK),
        ("python", "3.14.0", State.OK),
        ("java", "1.8.0_402", State.PROBLEM),
        ("java", "11.0.2", State.PROBLEM),
        ("java", "17", State.OK),
        ("java", "19.0.1", State.UNKNOWN),
        ("java", "21.0.4", State.OK),
        ("java", "25", State.UNKNOWN),
        ("spark", "3.4.1", State.PROBLEM),
        ("spark", "3.5.9-amzn-1", State.OK),
        ("spark", "4.3.0", State.OK),
        ("spark", "4.4.0", State.UNKNOWN),
        ("spark", "5.0.0-preview1", State.UNKNOWN),
    ],
)
def test_versions(subject: str, version: str, state: State) -> None:
    changed: dict[str, Any] = {subject: version}
    (finding,) = of(replace(GOOD, **changed), subject)
    assert finding.state is state
    assert version in finding.seen
    assert bool(finding.remedy) == (state is not State.OK)


def test_missing_programs_are_problems() -> None:
    (java,) = of(replace(BEFORE, java=None), "java")
    (spark,) = of(replace(BEFORE, spark=None, scala=None), "spark")
    assert (java.state, spark.state) == (State.PROBLEM, State.PROBLEM)
    assert "JAVA_HOME" in java.remedy
    assert "pip install" in spark.remedy
    (hidden,) = of(replace(GOOD, java=None), "java")
    assert hidden.state is State.UNKNOWN


def test_a_session_without_the_jar_gets_the_advice_of_its_environment() -> None:
    for jars in ((), None):
        found = replace(GOOD, jars=jars, has_connector=False, advice="Restart the kernel.")
        (jar,) = of(found, "jar")
        assert (jar.state, jar.remedy) == (State.PROBLEM, "Restart the kernel.")


def test_a_jar_that_is_there_twice_is_a_problem() -> None:
    other = Jar(place="/b/spark-kinesis_2.13-0.1.0.jar", scala="2.13", version="0.1.0")
    (jar,) = of(replace(GOOD, jars=(*(GOOD.jars or ()), other)), "jar")
    assert jar.state is State.PROBLEM
    assert jar.details == ("/a/spark-kinesis_2.13-0.1.0.jar", "/b/spark-kinesis_2.13-0.1.0.jar")


def test_a_jar_of_another_version_or_scala_is_a_problem() -> None:
    for jar, expected in (
        (Jar(place="x.jar", scala="2.13", version="0.2.0"), "version 0.2.0"),
        (Jar(place="x.jar", scala="2.12", version="0.1.0"), "Scala 2.12"),
    ):
        _, found = of(replace(GOOD, jars=(jar,)), "jar")
        assert found.state is State.PROBLEM
        assert expected in found.seen


def test_a_package_without_a_jar_is_a_problem() -> None:
    (jar,) = of(replace(BEFORE, packaged=False), "jar")
    assert jar.state is State.PROBLEM
    assert "SPARK_KINESIS_JAR" in jar.remedy


def test_another_connector_of_the_same_name_is_a_problem() -> None:
    (name,) = of(replace(GOOD, rival="Multiple sources found"), "format name")
    assert name.state is State.PROBLEM
    assert "spark-kinesis" in name.remedy


def test_the_name_of_a_jar_has_its_versions() -> None:
    found = named_jar("file:/x/spark-kinesis_2.12-0.1.0.jar")
    assert found is not None
    assert (found.scala, found.version) == ("2.12", "0.1.0")
    assert named_jar("/x/spark-kinesis-simulator_2.13-0.1.0.jar") is None
    assert numbers("4.0.5-amzn-1") == (4, 0, 5)


@pytest.fixture
def home(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """A folder of a Spark 4.1 with a jar of another release."""
    (tmp_path / "jars").mkdir()
    (tmp_path / "conf").mkdir()
    for name in ("spark-core_2.13-4.1.3.jar", "scala-library-2.13.17.jar"):
        (tmp_path / "jars" / name).touch()
    (tmp_path / "jars" / "spark-kinesis_2.13-0.0.9.jar").touch()
    setting = "spark.jars /opt/spark-kinesis_2.12-0.1.0.jar,/opt/other.jar"
    (tmp_path / "conf" / "spark-defaults.conf").write_text(setting)
    monkeypatch.setenv("SPARK_HOME", str(tmp_path))
    monkeypatch.delenv("SPARK_CONF_DIR", raising=False)
    monkeypatch.delenv("PYSPARK_SUBMIT_ARGS", raising=False)
    return tmp_path


def test_an_environment_shows_its_spark_and_its_jars(
    home: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("JAVA_HOME", str(home / "nothing"))
    found = find_installed(None)
    assert (found.is_session, found.spark, found.scala) == (False, "4.1.3", "2.13")
    assert found.java is None
    assert [(it.scala, it.version) for it in found.jars or ()] == [
        ("2.13", "0.0.9"),
        ("2.12", "0.1.0"),
    ]


def java_home(folder: Path, text: str) -> str:
    """A folder whose java is this program."""
    program = folder / "bin" / "java"
    program.parent.mkdir()
    program.write_text(text)
    program.chmod(0o755)
    return str(folder)


def test_a_java_that_does_not_run_is_missing(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("JAVA_HOME", java_home(tmp_path, "no program"))
    assert find_installed(None).java is None


def test_the_java_of_the_environment_is_asked(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    text = "#!/bin/sh\necho 'openjdk version \"11.0.2\" 2019' >&2\n"
    monkeypatch.setenv("JAVA_HOME", java_home(tmp_path, text))
    assert find_installed(None).java == "11.0.2"
