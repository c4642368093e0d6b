"""Which versions and jars fit together, from facts made up."""

from __future__ import annotations

from dataclasses import replace
from typing import TYPE_CHECKING, Any

import pytest

from spark_kinesis import __version__
from spark_kinesis.tools.examination import Finding, State
from spark_kinesis.tools.examination.software import (
    Installed,
    find_installed,
    numbers,
    software_findings,
)

if TYPE_CHECKING:
    from pathlib import Path

GOOD = Installed(
    is_session=True,
    java="17.0.15",
    spark="4.0.5",
    scala="2.13",
    jars=(f"/a/spark-kinesis_2.13-{__version__}.jar",),
)
BEFORE = replace(GOOD, is_session=False, jars=())


def of(found: Installed, subject: str) -> list[Finding]:
    return [it for it in software_findings(found) if it.subject == subject]


def test_what_fits_is_ok() -> None:
    for found in (GOOD, BEFORE, replace(GOOD, jars=())):
        assert {it.state for it in software_findings(found)} == {State.OK}


@pytest.mark.parametrize(
    ("subject", "version", "state"),
    [
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
    assert of(replace(GOOD, java=None), "java") == []  # Spark Connect does not show it


def test_a_session_without_the_jar_gets_the_advice_of_its_environment() -> None:
    (jar,) = of(replace(GOOD, jars=(), lack="Restart the kernel."), "jar")
    assert (jar.state, jar.remedy) == (State.PROBLEM, "Restart the kernel.")


def test_a_jar_that_is_there_twice_is_a_problem() -> None:
    other = f"/b/spark-kinesis_2.13-{__version__}.jar"
    (jar,) = of(replace(GOOD, jars=(*GOOD.jars, other)), "jar")
    assert jar.state is State.PROBLEM
    assert jar.seen.endswith(f"2 times: {GOOD.jars[0]}, {other}")


def test_a_jar_of_another_version_or_scala_is_a_problem() -> None:
    for jar, expected in (
        ("/x/spark-kinesis_2.13-0.0.2.jar", "version 0.0.2"),
        (f"file:/x/spark-kinesis_2.12-{__version__}.jar", "Scala 2.12"),
    ):
        (found,) = of(replace(GOOD, jars=(jar,)), "jar")
        assert found.state is State.PROBLEM
        assert expected in found.seen


def test_a_package_without_a_jar_is_a_problem() -> None:
    (jar,) = of(replace(BEFORE, lack="no file"), "jar")
    assert jar.state is State.PROBLEM
    assert "SPARK_KINESIS_JAR" in jar.remedy


def test_a_version_has_leading_numbers() -> None:
    assert numbers("4.0.5-amzn-1") == (4, 0, 5)


@pytest.fixture
def home(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """A folder of a Spark 4.1."""
    (tmp_path / "jars").mkdir()
    for name in ("spark-core_2.13-4.1.3.jar", "scala-library-2.13.17.jar"):
        (tmp_path / "jars" / name).touch()
    monkeypatch.setenv("SPARK_HOME", str(tmp_path))
    return tmp_path


def test_an_environment_shows_its_spark(home: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("JAVA_HOME", str(home / "nothing"))
    found = find_installed(None)
    assert (found.is_session, found.spark, found.scala) == (False, "4.1.3", "2.13")
    assert found.java is None


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
