"""The paths of the jars."""

from __future__ import annotations

import os
import subprocess
import sys
import zipfile
from pathlib import Path
from types import SimpleNamespace

import pytest

import spark_kinesis
from spark_kinesis import JarNotFoundError, jar_path
from spark_kinesis._session import jars
from spark_kinesis._session.jars import simulator_jar_path


def test_the_installed_package_carries_both_jars(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.delenv("SPARK_KINESIS_JAR", raising=False)
    monkeypatch.delenv("SPARK_KINESIS_SIMULATOR_JAR", raising=False)
    for path in (jar_path(), simulator_jar_path()):
        assert Path(path).is_absolute()
        assert path.endswith(f"-{spark_kinesis.__version__}.jar")
        assert zipfile.is_zipfile(path)


def test_the_environment_variable_comes_first(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    mine = tmp_path / "mine.jar"
    mine.touch()
    monkeypatch.setenv("SPARK_KINESIS_JAR", str(mine))
    assert jar_path() == str(mine)


def test_a_wrong_override_is_not_ignored(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("SPARK_KINESIS_JAR", "gone.jar")
    with pytest.raises(JarNotFoundError, match=r"SPARK_KINESIS_JAR is 'gone\.jar'"):
        jar_path()


@pytest.fixture
def package(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """An installed package with the connector's jars for both versions of Scala."""
    monkeypatch.delenv("SPARK_KINESIS_JAR", raising=False)
    monkeypatch.setattr(jars, "_PACKAGE", tmp_path)
    monkeypatch.setattr(jars, "version", lambda: "1.2.3")
    (tmp_path / "jars").mkdir()
    for scala in ("2.12", "2.13"):
        (tmp_path / "jars" / f"spark-kinesis_{scala}-1.2.3.jar").touch()
    return tmp_path / "jars"


def install_spark(home: Path, library: str, monkeypatch: pytest.MonkeyPatch) -> None:
    (home / "jars").mkdir(parents=True)
    (home / "jars" / library).touch()
    monkeypatch.setenv("SPARK_HOME", str(home))


@pytest.mark.parametrize(
    ("library", "scala"),
    [("scala-library-2.12.18.jar", "2.12"), ("scala-library-2.13.16.jar", "2.13")],
)
def test_the_jar_is_for_the_scala_of_the_installed_spark(
    library: str, scala: str, package: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    install_spark(tmp_path / "spark", library, monkeypatch)
    assert jar_path() == str(package / f"spark-kinesis_{scala}-1.2.3.jar")
    assert jar_path("2.12") == str(package / "spark-kinesis_2.12-1.2.3.jar")
    assert jar_path("2.13") == str(package / "spark-kinesis_2.13-1.2.3.jar")


def test_without_a_spark_the_jar_is_for_spark_4(
    package: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.delenv("SPARK_HOME", raising=False)
    monkeypatch.setattr("spark_kinesis._session.jars.find_spec", lambda _: None)
    assert jar_path() == str(package / "spark-kinesis_2.13-1.2.3.jar")


def test_a_distribution_of_spark_has_its_jars_above_the_package(
    package: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    install_spark(tmp_path / "spark", "scala-library-2.12.18.jar", monkeypatch)
    monkeypatch.delenv("SPARK_HOME")
    folder = tmp_path / "spark" / "python" / "pyspark"
    found = SimpleNamespace(submodule_search_locations=[str(folder)])
    monkeypatch.setattr("spark_kinesis._session.jars.find_spec", lambda _: found)
    assert jar_path() == str(package / "spark-kinesis_2.12-1.2.3.jar")


def test_a_package_without_the_jar_names_the_file(package: Path) -> None:
    (package / "spark-kinesis_2.12-1.2.3.jar").unlink()
    with pytest.raises(JarNotFoundError, match=r"no spark-kinesis_2\.12-1\.2\.3\.jar"):
        jar_path("2.12")


def test_a_package_in_a_zip_file_has_a_version_and_no_jar(tmp_path: Path) -> None:
    home = Path(spark_kinesis.__file__).parent
    archive = tmp_path / "package.zip"
    with zipfile.ZipFile(archive, "w") as package:
        for file in (*home.rglob("*.py"), home / "VERSION"):
            package.write(file, file.relative_to(home.parent))
    program = (
        "import spark_kinesis as it\n"
        "try: it.jar_path()\n"
        "except it.JarNotFoundError: print(it.__version__, 'package.zip' in it.__file__)"
    )
    environment = {"PYTHONPATH": str(archive), "PATH": os.environ["PATH"]}
    ended = subprocess.run(
        [sys.executable, "-c", program], env=environment, capture_output=True, text=True, check=True
    )
    assert ended.stdout.split() == [spark_kinesis.__version__, "True"]


def test_a_jar_of_another_scala_is_not_there() -> None:
    with pytest.raises(JarNotFoundError, match=r"has no spark-kinesis_2.11-"):
        jar_path("2.11")  # type: ignore[arg-type]
