"""Runs every test there is and ends with one line, `N passed, N failed[, N skipped]`.

The figures come from the JUnit XML reports that sbt and pytest write. A part counts as one failure
more when it fails without a failed test to show for it (a crash, code that does not compile), when
it runs nothing, leaves a report that cannot be read, or takes too long. The other parts still run.
"""

from __future__ import annotations

import os
import signal
import subprocess
import sys
from dataclasses import dataclass, field
from pathlib import Path
from xml.etree import ElementTree as ET

from tests.sparks import NEWEST, SPARK_35

ROOT = Path(__file__).resolve().parent.parent
REPORTS = ROOT / "target" / "pytest-reports"
LIMIT_SECONDS = 1800.0  # of a part: several times what one takes on two slow cores


@dataclass(frozen=True, kw_only=True)
class Part:
    """A command that runs tests, and where it reports."""

    name: str
    command: list[str]
    reports: str


def pytest_part(name: str, *tests: str, spark: str | None = None) -> Part:
    """Some Python tests in a process of its own, on another Spark where one is named."""
    report = REPORTS / f"{name}.xml"
    python = [sys.executable, *(["-m", "tests.sparks", spark] if spark else [])]
    config = ["-c", "python/pyproject.toml", "--rootdir", "."]
    command = [*python, "-m", "pytest", *config, f"--junitxml={report}", *tests]
    return Part(name=name, command=command, reports=str(report.relative_to(ROOT)))


def spark_part(spark: str) -> Part:
    """The end-to-end tests on one of the Sparks we know, as far as it can run them.

    Those of a cluster take minutes, and are about Spark's scheduler: they run on the oldest alone.
    """
    left_out = ["cluster", "spark4"] if spark == SPARK_35 else ["cluster"]
    chosen = " and ".join(f"not {marker}" for marker in left_out)
    return pytest_part(f"e2e-{spark}", "-m", chosen, "tests/e2e", spark=spark)


PARTS = [
    Part(name="scala", command=["project/sbt", "test"], reports="**/target/test-reports/*.xml"),
    Part(
        name="bench",
        command=["project/sbt", "bench/test"],
        reports="tests/bench/target/test-reports/*.xml",
    ),
    pytest_part("python", "python/tests", "tests/golden"),
    pytest_part("packaging", "tests/packaging"),
    pytest_part("docs", "tests/docs"),
    pytest_part("simulator", "tests/simulator"),
    pytest_part("conformance", "tests/conformance"),  # after those whose reports it reads
    pytest_part("e2e", "tests/e2e"),  # on .venv's Spark, the oldest we serve
    spark_part(NEWEST),
]


@dataclass
class Tally:
    """What became of some tests."""

    passed: int = 0
    failed: int = 0
    skipped: list[str] = field(default_factory=list)

    def add(self, other: Tally) -> None:
        """Count others too."""
        self.passed += other.passed
        self.failed += other.failed
        self.skipped += other.skipped

    def __str__(self) -> str:
        skipped = f", {len(self.skipped)} skipped" if self.skipped else ""
        return f"{self.passed} passed, {self.failed} failed{skipped}"


def run(part: Part, limit_seconds: float = LIMIT_SECONDS) -> Tally:
    """What became of a part's tests."""
    for stale in ROOT.glob(part.reports):
        stale.unlink()
    print(f"== {part.name}", flush=True)
    status = execute(part.command, limit_seconds)
    tally = Tally()
    for report in sorted(ROOT.glob(part.reports)):
        tally.add(read(report))
    if status is None:
        tally.failed += 1
        print(f"== {part.name}: not done within {limit_seconds:.0f} s, and ended")
    elif tally.failed == 0 and (status != 0 or tally.passed == 0):
        tally.failed = 1
        print(f"== {part.name}: ended with status {status} and {tally.passed} passed tests")
    return tally


def execute(command: list[str], limit_seconds: float) -> int | None:
    """A command's exit status; nothing where it took too long, and was ended with its children."""
    process = subprocess.Popen(command, cwd=ROOT, stdin=subprocess.DEVNULL, start_new_session=True)
    try:
        return process.wait(limit_seconds)
    except subprocess.TimeoutExpired:
        return None
    finally:
        if process.returncode is None:  # also on Ctrl-C, which does not reach its session
            os.killpg(process.pid, signal.SIGKILL)
            process.wait()


def read(report: Path) -> Tally:
    """The tests of a report; one that cannot be read is a failure."""
    try:
        root = ET.parse(report).getroot()
    except (ET.ParseError, OSError) as error:
        print(f"== {report.name} cannot be read: {error}")
        return Tally(failed=1)
    tally = Tally()
    for case in root.iter("testcase"):
        if case.find("failure") is not None or case.find("error") is not None:
            tally.failed += 1
        elif case.find("skipped") is not None:
            tally.skipped.append(f"{case.get('classname')}: {case.get('name')}")
        else:
            tally.passed += 1
    return tally


def main(names: list[str]) -> int:
    """Run the named parts, or all."""
    unknown = set(names) - {part.name for part in PARTS}
    if unknown:
        sys.exit(f"no such part: {', '.join(sorted(unknown))}")
    total = Tally()
    for part in PARTS:
        if not names or part.name in names:
            total.add(run(part))
    for skipped in total.skipped:
        print(f"skipped: {skipped}")
    print(total)
    return 1 if total.failed or not total.passed else 0


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
