"""The release that `make dist` built, and how it is built."""

from __future__ import annotations

import os
import re
import shutil
import subprocess
import sys
import tarfile
import venv
import zipfile
from email import message_from_string
from pathlib import Path

import pytest

ROOT = Path(__file__).resolve().parents[2]
PROJECT = ROOT / "python"
RELEASE = ROOT / "target" / "release"
VERSION = (PROJECT / "src" / "spark_kinesis" / "VERSION").read_text(encoding="utf-8").strip()
JARS = [
    f"spark-kinesis-simulator_2.13-{VERSION}.jar",
    f"spark-kinesis_2.12-{VERSION}.jar",
    f"spark-kinesis_2.13-{VERSION}.jar",
]


@pytest.fixture
def project(tmp_path: Path) -> Path:
    """A copy of the Python project beside a `target` with stand-ins for the jars."""
    ignored = shutil.ignore_patterns("dist", "__pycache__", "tests")
    copy = shutil.copytree(PROJECT, tmp_path / "repository" / "python", ignore=ignored)
    target = tmp_path / "repository" / "target"
    target.mkdir()
    for jar in JARS:
        (target / jar).write_text(jar)
    return copy


def build(project: Path, kind: str, **environment: str) -> subprocess.CompletedProcess[str]:
    command = [sys.executable, "-m", "hatchling", "build", "-t", kind, "-d", "dist"]
    return subprocess.run(
        command,
        cwd=project,
        env={**os.environ, **environment},
        capture_output=True,
        text=True,
        check=False,
    )


def built_wheel(project: Path, **environment: str) -> Path:
    ended = build(project, "wheel", **environment)
    assert ended.returncode == 0, ended.stderr
    (wheel,) = (project / "dist").glob("*.whl")
    return wheel


def released(suffix: str) -> Path:
    """A file of the release."""
    files = list(RELEASE.glob(f"*{suffix}"))
    assert len(files) == 1, "There is no release. Run `make dist` first."
    return files[0]


def run(command: list[str], cwd: Path) -> str:
    """The output of a program, which must succeed."""
    ended = subprocess.run(command, cwd=cwd, capture_output=True, text=True, check=False)
    assert ended.returncode == 0, ended.stdout + ended.stderr
    return ended.stdout


def jars_in(wheel: Path) -> dict[str, bytes]:
    folder = "spark_kinesis/jars/"
    with zipfile.ZipFile(wheel) as opened:
        names = [name for name in opened.namelist() if name.startswith(folder)]
        return {name.removeprefix(folder): opened.read(name) for name in names}


def jars_built() -> dict[str, bytes]:
    return {jar: (ROOT / "target" / jar).read_bytes() for jar in JARS}


@pytest.mark.slow
def test_the_wheel_has_the_jars_of_both_scalas_and_the_licenses() -> None:
    wheel = released(".whl")
    assert jars_in(wheel) == jars_built()
    with zipfile.ZipFile(wheel) as opened:
        info = f"spark_kinesis-{VERSION}.dist-info"
        for name in ("LICENSE", "NOTICE"):
            text = opened.read(f"{info}/licenses/{name}").decode()
            assert text == (PROJECT / name).read_text(encoding="utf-8")
        metadata = message_from_string(opened.read(f"{info}/METADATA").decode())
    assert metadata.get_all("License-File") == ["LICENSE", "NOTICE"]
    assert "testing" in (metadata.get_all("Provides-Extra") or [])
    assert "Programming Language :: Python :: 3.10" in (metadata.get_all("Classifier") or [])
    assert metadata["Requires-Python"] == ">=3.10"
    assert metadata["License-Expression"].startswith("Apache-2.0 AND ")
    assert wheel.stat().st_size < 31_000_000


@pytest.mark.slow
def test_the_same_wheel_is_built_from_the_source_distribution_alone(tmp_path: Path) -> None:
    with tarfile.open(released(".tar.gz")) as opened:
        opened.extractall(tmp_path, filter="data")
    (unpacked,) = tmp_path.iterdir()
    wheel = built_wheel(unpacked)
    assert wheel.read_bytes() == released(".whl").read_bytes()
    venv.create(tmp_path / "empty", with_pip=True)
    python = tmp_path / "empty" / "bin" / "python"
    run([str(python), "-m", "pip", "install", "--quiet", "--no-index", str(wheel)], tmp_path)
    program = "import spark_kinesis; print(spark_kinesis.jar_path())"
    jar = Path(run([str(python), "-c", program], tmp_path).strip())
    assert jar.read_bytes() == jars_built()[JARS[2]]


@pytest.mark.slow
def test_twine_accepts_the_release(tmp_path: Path) -> None:
    packages = [str(released(".whl")), str(released(".tar.gz"))]
    run([sys.executable, "-m", "twine", "check", "--strict", *packages], tmp_path)


def test_two_builds_of_the_same_files_are_the_same(project: Path, tmp_path: Path) -> None:
    copy = shutil.copytree(project.parent, tmp_path / "another") / "python"
    for file in copy.rglob("*"):
        os.utime(file, (1_000_000_000, 1_000_000_000))
    for kind in ("wheel", "sdist"):
        for place in (project, copy):
            assert build(place, kind).returncode == 0
    built = sorted(it.name for it in (project / "dist").iterdir())
    assert len(built) == 2
    for name in built:
        assert (project / "dist" / name).read_bytes() == (copy / "dist" / name).read_bytes()


def test_a_package_names_the_addresses_of_its_publisher_and_no_others(project: Path) -> None:
    assert addresses(built_wheel(project)) == []
    values = "site=https://site.test\nrepository=https://code.test\nmail=us@site.test\n"
    (project / "publisher.properties").write_text(f"# Us.\norganization=test.site\n{values}")
    assert addresses(built_wheel(project)) == [
        "Author-email: The authors of spark-kinesis <us@site.test>",
        "Project-URL: Changelog, https://code.test/blob/main/CHANGELOG.md",
        "Project-URL: Documentation, https://site.test",
        "Project-URL: Issues, https://code.test/issues",
        "Project-URL: Source, https://code.test",
    ]


def addresses(wheel: Path) -> list[str]:
    """The lines of the metadata that name an address."""
    with zipfile.ZipFile(wheel) as opened:
        text = opened.read(f"spark_kinesis-{VERSION}.dist-info/METADATA").decode()
    head = text.partition("\n\n")[0].splitlines()
    return sorted(line for line in head if "://" in line or "@" in line)


def test_nothing_names_a_repository_that_does_not_exist() -> None:
    """Only `python/publisher.properties` knows where the project is."""
    guessed = "|".join(f"{host}[./]spark-kinesis" for host in (r"github\.com", r"github"))
    found = subprocess.run(
        ["git", "grep", "-nE", guessed], cwd=ROOT, capture_output=True, text=True, check=False
    )
    assert (found.returncode, found.stdout) == (1, ""), found.stderr  # it found nothing


@pytest.mark.parametrize("folder", ["python", "docs/site"])
def test_each_pin_of_a_tool_is_in_its_lock(folder: str) -> None:
    name = "requirements-dev" if folder == "python" else "requirements"
    pins, lock = (
        (ROOT / folder / f"{name}.{kind}").read_text(encoding="utf-8") for kind in ("txt", "lock")
    )
    wanted = re.findall(r"^([\w.-]+)(?:\[\w+\])?==([\w.]+)", pins, re.MULTILINE)
    assert len(wanted) == len([it for it in pins.splitlines() if it and not it.startswith("#")])
    locked = re.findall(r"^([\w.-]+)(?:\[\w+\])?==([\w.]+)", lock, re.MULTILINE)
    normal = {(it.lower().replace("_", "-"), version) for it, version in locked}
    missing = [it for it in wanted if (it[0].lower().replace("_", "-"), it[1]) not in normal]
    assert missing == [], "Run `make lock`"


def test_a_build_without_a_jar_names_it_and_the_command(project: Path) -> None:
    (project.parent / "target" / JARS[1]).unlink()
    for kind in ("wheel", "sdist"):
        ended = build(project, kind)
        assert ended.returncode != 0
        assert f"{JARS[1]}: run `make jar-2.12`" in ended.stderr


def test_a_wheel_for_tests_may_have_one_scala(project: Path) -> None:
    wheel = built_wheel(project, SPARK_KINESIS_SCALA="2.13")
    assert jars_in(wheel) == {jar: jar.encode() for jar in (JARS[0], JARS[2])}


def test_the_license_is_that_of_the_repository() -> None:
    ours = (PROJECT.parent / "LICENSE").read_text(encoding="utf-8")
    assert (PROJECT / "LICENSE").read_text(encoding="utf-8") == ours
