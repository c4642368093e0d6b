"""The list of served Spark versions, and every other place that names a version."""

from __future__ import annotations

import re
from pathlib import Path

import pytest

from tests import spark_versions, sparks
from tests.run_all import Tally
from tests.scopes import SCOPES, SMOKE_TESTS, spark_part
from tests.spark_versions import ROW, row_of, with_row
from tests.sparks import ALL, NEWEST, SERVED, SPARK_35, settings_on

ROOT = Path(__file__).resolve().parents[2]


def number(version: str) -> tuple[int, ...]:
    return tuple(int(part) for part in version.split("."))


def test_the_list_has_each_minor_version_once_oldest_first() -> None:
    assert sorted(SERVED, key=number) == list(SERVED)
    assert len({number(version)[:2] for version in SERVED}) == len(SERVED)


def test_the_development_environment_has_the_oldest() -> None:
    requirements = (ROOT / "python" / "requirements-dev.txt").read_text(encoding="utf-8")
    assert re.findall(r"^pyspark==(\S+)", requirements, re.MULTILINE) == [SERVED[0]]


def test_only_the_list_names_the_releases() -> None:
    """The Scala build and the tests read the list; neither repeats a version."""
    for name in ("project/Dependencies.scala", "tests/sparks.py"):
        text = (ROOT / name).read_text(encoding="utf-8")
        assert "spark-versions" in text
        assert not [version for version in ALL if f'"{version}"' in text]


def test_the_package_requires_these_versions() -> None:
    project = (ROOT / "python" / "pyproject.toml").read_text(encoding="utf-8")
    asked = set(re.findall(r'"pyspark>=([\d.]+),<([\d.]+)"', project))
    major, minor = number(NEWEST)[:2]
    oldest = ".".join(SERVED[0].split(".")[:2])
    assert asked == {(oldest, f"{major}.{minor + 1}")}


def test_ci_runs_the_smoke_tests_on_spark_35_and_on_the_newest() -> None:
    commands = {part.name: part.command for part in SCOPES["ci"].parts()}
    for spark in (SPARK_35, NEWEST):
        assert set(SMOKE_TESTS) <= set(commands[f"e2e-{spark}"])
    assert "tests/e2e" in commands["e2e"]


@pytest.mark.parametrize("test", SMOKE_TESTS)
def test_a_smoke_test_is_there(test: str) -> None:
    file, _, name = test.partition("::")
    assert f"def {name or 'test_'}" in (ROOT / file).read_text(encoding="utf-8")


def test_the_table_of_results_has_every_spark_and_no_failure() -> None:
    rows = list(ROW.finditer(spark_versions.REPORT.read_text(encoding="utf-8")))
    assert [row[1] for row in rows] == list(ALL)
    assert {row[0].split(" | ")[4] for row in rows} == {"0"}


@pytest.mark.parametrize("spark", ["", "4.2", "3.4.4"])
def test_an_unknown_version_is_refused_with_the_list(spark: str) -> None:
    for refuse in (spark_versions.main, sparks.main):
        with pytest.raises(SystemExit, match=re.escape(", ".join(ALL))):
            refuse(spark)


def test_spark_35_runs_the_streaming_tests_with_its_own_jar() -> None:
    assert SPARK_35.startswith("3.5.")
    assert all(number(spark) >= (4,) for spark in SERVED)
    assert "/spark-kinesis_2.12-" in settings_on(SPARK_35)["SPARK_KINESIS_JAR"]
    assert settings_on(NEWEST) == {}
    assert "not cluster and not spark4" in spark_part(SPARK_35).command
    assert "not cluster" in spark_part(NEWEST).command


def test_a_run_replaces_its_row_and_no_other() -> None:
    older, newer = SERVED[0], SERVED[1]
    row = row_of(newer, "2026-01-02", "17.0.1", Tally(3, ["c: d"], ["a: b"]))
    assert row == f"| {newer} | 2026-01-02 | 17.0.1 | 3 | 1 | 1 |"
    other = row_of(older, "2026-01-03", "17.0.1", Tally(4))
    report = with_row(with_row("", newer, row), older, other)
    assert report.splitlines()[-2:] == [other, row]
    again = row_of(newer, "2026-01-04", "17.0.1", Tally(5))
    assert with_row(report, newer, again).splitlines()[-2:] == [other, again]
    gone = row_of("3.9.9", "2026-01-01", "17.0.1", Tally(1))
    assert "3.9.9" not in with_row(report + gone, newer, row)


def test_an_interrupted_run_keeps_the_last_result(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    tally = Tally(failed=["a: b"])
    monkeypatch.setattr(spark_versions, "REPORT", tmp_path / "report.md")
    monkeypatch.setattr(spark_versions, "run", lambda _: tally)
    monkeypatch.setenv("JAVA_HOME", str(tmp_path))
    (tmp_path / "release").write_text('JAVA_VERSION="17.0.1"\n', encoding="utf-8")
    assert spark_versions.main(NEWEST) == 1
    assert not (tmp_path / "report.md").exists()
    tally.passed = 2
    assert spark_versions.main(NEWEST) == 1
    assert "| 17.0.1 | 2 | 1 | 0 |" in (tmp_path / "report.md").read_text(encoding="utf-8")
