"""What `make release` publishes on Maven Central, and what it needs to know about the publisher."""

from __future__ import annotations

import hashlib
import shutil
import subprocess
import zipfile
from pathlib import Path
from xml.etree import ElementTree as ET

import pytest

import spark_kinesis

ROOT = Path(__file__).resolve().parents[2]
REPOSITORY = ROOT / "target" / "repository"
VERSION = spark_kinesis.__version__
MAVEN = "{http://maven.apache.org/POM/4.0.0}"

pytestmark = pytest.mark.slow


def published(scala: str) -> Path:
    """The folder of an artifact in the repository that `make release` leaves."""
    found = list(REPOSITORY.glob(f"**/spark-kinesis_{scala}/{VERSION}"))
    assert len(found) == 1, "There is no release. Run `make release LOCAL=1` first."
    return found[0]


@pytest.mark.parametrize("scala", ["2.12", "2.13"])
def test_a_release_has_the_jar_its_sources_its_documentation_and_its_sbom(scala: str) -> None:
    folder, name = published(scala), f"spark-kinesis_{scala}-{VERSION}"
    kinds = [".jar", "-sources.jar", "-javadoc.jar", ".pom", "-cyclonedx.json"]
    sums = ["", ".md5", ".sha1"]
    files = {it.name for it in folder.iterdir()}
    assert files == {f"{name}{kind}{suffix}" for kind in kinds for suffix in sums}
    jar = folder / f"{name}.jar"
    assert jar.read_bytes() == (ROOT / "target" / jar.name).read_bytes()
    for kind in kinds:
        file = folder / f"{name}{kind}"
        known = (folder / f"{file.name}.sha1").read_text(encoding="utf-8")
        assert known == hashlib.sha1(file.read_bytes(), usedforsecurity=False).hexdigest()
    classes = "sparkkinesis/client/access/CredentialsProvider"
    for kind, inside in [("-sources", f"{classes}.scala"), ("-javadoc", f"{classes}.html")]:
        with zipfile.ZipFile(folder / f"{name}{kind}.jar") as opened:
            assert [it for it in opened.namelist() if it.endswith(inside)] != []


@pytest.fixture
def build(tmp_path: Path) -> Path:
    """A copy of the build, whose publisher the test sets."""
    copy = tmp_path / "build"
    ignored = shutil.ignore_patterns("target", "project")
    shutil.copytree(ROOT / "project", copy / "project", ignore=ignored)
    for name in ("build.sbt", "python/src/spark_kinesis/VERSION", "python/publisher.properties"):
        (copy / name).parent.mkdir(parents=True, exist_ok=True)
        shutil.copy(ROOT / name, copy / name)
    (copy / ".venv").symlink_to(ROOT / ".venv")  # sbt itself
    return copy


def sbt(build: Path, publisher: str, *commands: str) -> subprocess.CompletedProcess[str]:
    (build / "python" / "publisher.properties").write_text(publisher, encoding="utf-8")
    return subprocess.run(
        [build / "project" / "sbt", *commands],
        cwd=build,
        stdin=subprocess.DEVNULL,
        capture_output=True,
        text=True,
        check=False,
    )


def test_the_pom_names_the_publisher_and_without_one_nothing_is_published(build: Path) -> None:
    ended = sbt(build, "mail=us@site.test\norganization=\nsite=\nrepository=\n", "bundle/addresses")
    assert ended.returncode != 0
    assert "lacks organization, site, repository: fill them in" in ended.stdout
    values = "site=https://site.test\nrepository=https://code.test\nmail=us@site.test\n"
    ended = sbt(build, f"organization=test.site\n{values}", "bundle/addresses", "bundle/makePom")
    assert ended.returncode == 0, ended.stdout
    (file,) = build.glob("connector-scala/bundle/target/**/*.pom")
    pom = ET.parse(file).getroot()
    places = {
        "groupId": "test.site",
        "name": "spark-kinesis",
        "description": "Amazon Kinesis Data Streams source and sink for Apache Spark",
        "url": "https://site.test",
        "scm/url": "https://code.test",
        "scm/connection": "scm:git:https://code.test.git",
        "scm/developerConnection": "scm:git:https://code.test.git",
        "licenses/license/name": "Apache-2.0",
        "licenses/license/url": "https://www.apache.org/licenses/LICENSE-2.0.txt",
        "developers/developer/name": "The authors of spark-kinesis",
        "developers/developer/email": "us@site.test",
        "developers/developer/url": "https://site.test",
    }
    found = {
        it: pom.findtext("/".join(f"{MAVEN}{part}" for part in it.split("/"))) for it in places
    }
    assert found == places
