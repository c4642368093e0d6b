"""The environments with other Pythons: which Python and which packages each one gets."""

from __future__ import annotations

from pathlib import Path

import pytest

from tests import pythons
from tests.pythons import RESOLUTIONS, tools, version_of
from tests.scopes import SCOPES

NUMBERS = {"3.9.1": (3, 9), "3.10.2": (3, 10), "3.13.0": (3, 13), "3.99.0": (3, 99)}


def python(folder: Path, version: str) -> str:
    """A program that answers as the Python of a version does, or fails without one."""
    folder.mkdir(parents=True, exist_ok=True)
    path = folder / "python3"
    path.write_text(f"#!/bin/sh\n{f'echo {version}' if version else 'exit 127'}\n")
    path.chmod(0o755)
    return str(path)


@pytest.mark.parametrize(("answer", "version"), [("3 10", (3, 10)), ("", (0, 0))])
def test_a_python_that_does_not_start_has_no_version(
    tmp_path: Path, answer: str, version: tuple[int, int]
) -> None:
    assert version_of(python(tmp_path, answer)) == version


def test_pythons_that_the_package_or_spark_does_not_support_are_left_out(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("PYENV_ROOT", str(tmp_path))
    monkeypatch.setattr("shutil.which", lambda _: None)
    monkeypatch.setattr(pythons, "version_of", lambda it: NUMBERS.get(Path(it).parts[-3], (3, 11)))
    for folder in NUMBERS:
        python(tmp_path / "versions" / folder / "bin", "")
    assert sorted(pythons.pythons()) == [(3, 10), (3, 11), (3, 13)]


def test_the_tools_are_those_of_the_development_environment() -> None:
    assert any(tool.startswith("pytest==") for tool in tools())
    assert not any(tool.startswith(("click", "boto3", "rich", "pyspark")) for tool in tools())


def test_each_kind_runs_the_python_tests() -> None:
    for scope in ("rest", "ci"):
        names = {part.name for part in SCOPES[scope].parts()}
        assert {f"python-{kind}" for kind in RESOLUTIONS} <= names
