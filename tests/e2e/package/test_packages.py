"""The connector from a Maven repository, as `--packages` finds it, with the Python package."""

from __future__ import annotations

import shutil
import zipfile
from pathlib import Path
from xml.etree import ElementTree as ET

import pytest

from spark_kinesis import jar_path
from tests.e2e.support.programs import said_by

pytestmark = pytest.mark.spark4  # the local Kinesis runs beside the session, on its Spark
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


@pytest.mark.parametrize("start", ["with_kinesis", pytest.param("spark", marks=pytest.mark.slow)])
def test_a_session_gets_the_connector_from_a_repository(
    start: str, artifact: str, tmp_path: Path
) -> None:
    repository = (tmp_path / "repository").as_uri()
    said = said_by(
        "from_repository", start, artifact, repository, str(tmp_path / "ivy"), cwd=tmp_path
    )
    assert said == {"rows": ["first", "second"], "copies": 1}
