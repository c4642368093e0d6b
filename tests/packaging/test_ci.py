"""What `.ci/run` makes of a build or of tests that fail, with a `make` of ours."""

from __future__ import annotations

import os
import shutil
import subprocess
from pathlib import Path

import pytest

SCRIPT = Path(__file__).resolve().parents[2] / ".ci" / "run"


@pytest.fixture
def repository(tmp_path: Path) -> Path:
    """A folder with the script, where nothing needs to be installed."""
    (tmp_path / ".ci").mkdir()
    shutil.copy(SCRIPT, tmp_path / ".ci" / "run")
    for name in ("project/java-home", "bin/chromium"):
        program(tmp_path / name, "echo somewhere")
    return tmp_path


def program(path: Path, text: str) -> None:
    path.parent.mkdir(exist_ok=True)
    path.write_text(f"#!/bin/sh\n{text}\n", encoding="utf-8")
    path.chmod(0o755)


def ci(repository: Path, make: str) -> tuple[int, list[str]]:
    """Its exit status and its last two lines."""
    program(repository / "bin" / "make", f"mkdir -p target\n{make}")
    # `.ci/run` may be running this test.
    outside = {name: it for name, it in os.environ.items() if name != "SPARK_KINESIS_TEST_SECONDS"}
    ended = subprocess.run(
        [repository / ".ci" / "run"],
        env={**outside, "PATH": f"{repository}/bin:{os.environ['PATH']}"},
        capture_output=True,
        text=True,
        check=False,
    )
    return ended.returncode, ended.stdout.splitlines()[-2:]


def ending(status: int, *lines: str) -> str:
    """A `make` whose tests print and keep these lines and end with the status."""
    prints = "".join(f"echo '{line}' | tee -a target/test-sum\n" for line in lines)
    return f"case $1 in test*)\n{prints}echo 'make: Error'\nexit {status};; esac"


def test_the_last_lines_are_what_was_left_out_and_the_sum(repository: Path) -> None:
    lines = ["left out for lack of time: docs-site", "7 passed, 0 failed, 1 skipped"]
    assert ci(repository, ending(0, *lines)) == (0, lines)


def test_a_failed_test_is_red(repository: Path) -> None:
    status, lines = ci(repository, ending(2, "7 passed, 1 failed, 0 skipped"))
    assert status != 0
    assert lines[-1] == "7 passed, 1 failed, 0 skipped"


@pytest.mark.parametrize("make", ["exit 2", ending(2), "exit 0"])
def test_a_run_without_a_sum_is_red(repository: Path, make: str) -> None:
    (repository / "target").mkdir()
    (repository / "target" / "test-sum").write_text("9 passed, 0 failed, 0 skipped\n")
    status, lines = ci(repository, make)
    assert status != 0
    assert lines[-1] == "0 passed, 1 failed, 0 skipped"


def test_a_command_that_fails_after_a_clean_sum_is_red(repository: Path) -> None:
    status, lines = ci(repository, ending(137, "7 passed, 0 failed, 0 skipped"))
    assert status != 0
    assert lines[-1] == "7 passed, 1 failed, 0 skipped"


def test_it_runs_the_tests_of_the_readme_with_the_time_that_is_left(repository: Path) -> None:
    make = 'echo "$* $SPARK_KINESIS_TEST_SECONDS" >> calls; echo sum > target/test-sum'
    assert ci(repository, make)[0] == 0
    build, tests = (repository / "calls").read_text(encoding="utf-8").splitlines()
    assert build == "wheel "
    assert tests.startswith("test SCOPE=ci ")
    assert 2900 < int(tests.split()[-1]) <= 3000
