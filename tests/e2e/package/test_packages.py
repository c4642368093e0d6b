"""The connector from a Maven repository, as `--packages` finds it, with the Python package."""

from __future__ import annotations

import shutil
import zipfile
from pathlib import Path
from xml.etree import ElementTree as ET

import pytest

from spark_kinesis import jar_path
from tests.e2e.support.programs import said_by

OTHER = "ours:other:1.0"
IVY = """<ivysettings>
  <settings defaultResolver="here"/>
  <resolvers>
    <filesystem name="here" m2compatible="true">
      <ivy pattern="{pattern}"/>
      <artifact pattern="{pattern}"/>
    </filesystem>
  </resolvers>
</ivysettings>
"""
PATTERN = "[organisation]/[module]/[revision]/[artifact]-[revision].[ext]"
MAVEN = "{http://maven.apache.org/POM/4.0.0}"


@pytest.fixture
def artifact(tmp_path: Path) -> str:
    """The coordinates of the jar, which a folder has as a repository has it."""
    with zipfile.ZipFile(jar_path()) as opened:
        (inside,) = (it for it in opened.namelist() if it.endswith("/pom.xml"))
        pom = opened.read(inside)
    names = ("groupId", "artifactId", "version")
    coordinates = [ET.fromstring(pom).findtext(f"{MAVEN}{name}") or "" for name in names]
    group, name, version = coordinates
    folder = tmp_path / "repository" / group.replace(".", "/") / name / version
    folder.mkdir(parents=True)
    shutil.copy(jar_path(), folder / f"{name}-{version}.jar")
    (folder / f"{name}-{version}.pom").write_bytes(pom)
    return ":".join(coordinates)


@pytest.fixture
def settings(artifact: str, tmp_path: Path) -> list[str]:
    """Where Ivy finds the connector and another package: in a folder, and in no public place."""
    assert artifact
    folder = tmp_path / "repository"
    group, name, version = OTHER.split(":")
    place = folder / group / name / version
    place.mkdir(parents=True)
    with zipfile.ZipFile(place / f"{name}-{version}.jar", "w") as jar:
        jar.writestr("other.txt", "of the user")
    file = tmp_path / "ivysettings.xml"
    file.write_text(IVY.format(pattern=f"{folder}/{PATTERN}"), encoding="utf-8")
    return [str(file), str(tmp_path / "ivy")]


@pytest.mark.parametrize("start", ["with_kinesis", pytest.param("spark", marks=pytest.mark.slow)])
def test_a_session_gets_the_connector_from_a_repository(
    start: str, artifact: str, settings: list[str], tmp_path: Path
) -> None:
    said = said_by("from_repository", start, artifact, *settings, cwd=tmp_path)
    assert said == {"rows": ["first", "second"], "copies": 1}


@pytest.mark.slow
@pytest.mark.parametrize("is_submitted", [True, False])
def test_packages_of_the_arguments_win_and_the_connector_is_there_once(
    is_submitted: bool,
    artifact: str,
    settings: list[str],
    tmp_path: Path,
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    arguments, builder = (artifact, OTHER) if is_submitted else (OTHER, artifact)
    monkeypatch.setenv("PYSPARK_SUBMIT_ARGS", f"--packages {arguments} pyspark-shell")
    said = said_by("from_repository", "with_kinesis", builder, *settings, cwd=tmp_path)
    assert said == {"rows": ["first", "second"], "copies": 1}
