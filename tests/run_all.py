"""Runs every test there is and ends with one line, `N passed, N failed`.

The figures come from the JUnit XML reports that sbt and pytest write. A part that fails without
a failed test to show for it (a crash, code that does not compile) counts as one failure, and so
does a part that ran nothing.
"""

from __future__ import annotations

import subprocess
import sys
from dataclasses import dataclass
from pathlib import Path
from xml.etree import ElementTree as ET

ROOT = Path(__file__).resolve().parent.parent
REPORTS = ROOT / "target" / "pytest-reports"


@dataclass(frozen=True, kw_only=True)
class Part:
    """A command that runs tests, and where it reports."""

    name: str
    command: list[str]
    reports: str


def pytest_part(name: str, folder: str) -> Part:
    """A folder of Python tests in a process of its own."""
    report = REPORTS / f"{name}.xml"
    config = ["-c", "python/pyproject.toml", "--rootdir", "."]
    command = [sys.executable, "-m", "pytest", *config, f"--junitxml={report}", folder]
    return Part(name=name, command=command, reports=str(report.relative_to(ROOT)))


PARTS = [
    Part(name="scala", command=["project/sbt", "test"], reports="**/target/test-reports/*.xml"),
    pytest_part("python", "python/tests"),
    pytest_part("packaging", "tests/packaging"),
    pytest_part("simulator", "tests/simulator"),
    pytest_part("simulator", "tests/simulator"),
    pytest_part("e2e", "tests/e2e"),
]


def run(part: Part) -> tuple[int, int]:
    """How many of a part's tests passed and failed."""
    for stale in ROOT.glob(part.reports):
        stale.unlink()
    print(f"== {part.name}", flush=True)
    status = subprocess.run(part.command, cwd=ROOT, check=False).returncode
    passed, failed = tally([ET.parse(report).getroot() for report in ROOT.glob(part.reports)])
    if failed == 0 and (status != 0 or passed == 0):
        print(f"== {part.name}: ended with status {status} and {passed} passed tests")
        failed = 1
    return passed, failed


def tally(reports: list[ET.Element]) -> tuple[int, int]:
    """Passed and failed tests over some reports; skipped ones are neither."""
    suites = [suite for report in reports for suite in report.iter("testsuite")]

    def total(*counts: str) -> int:
        return sum(int(suite.get(count, "0")) for suite in suites for count in counts)

    failed = total("failures", "errors")
    return total("tests") - failed - total("skipped"), failed


def main(names: list[str]) -> int:
    """Run the named parts, or all."""
    unknown = set(names) - {part.name for part in PARTS}
    if unknown:
        sys.exit(f"no such part: {', '.join(sorted(unknown))}")
    results = [run(part) for part in PARTS if not names or part.name in names]
    passed, failed = (sum(column) for column in zip(*results, strict=True))
    print(f"{passed} passed, {failed} failed")
    return 1 if failed or not passed else 0


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
