"""Runs tests and ends with one line, `N passed, N failed[, N skipped]`.

`make test` runs the scope `quick`: every kind of test, with fewer seeds, on one Spark.
`make test-all` runs the scope `rest`: what the quick scope reduces or leaves out.
`make test-bench` runs the scope `bench`: the whole benchmark with hardly any data.
CONTRIBUTING.md says what each part costs.

The numbers come from the JUnit XML reports that sbt and pytest write. A part counts as one more
failure if it fails without a failed test (a crash, code that does not compile), if it runs no test,
if a report cannot be read, or if it takes too long. The other parts still run.

With the environment variable `SPARK_KINESIS_TEST_SECONDS`, a part that has not begun after so many
seconds is left out. The sum names it, and it does not count as a failure.
"""

from __future__ import annotations

import os
import signal
import subprocess
import sys
import time
from dataclasses import dataclass, field
from pathlib import Path
from xml.etree import ElementTree as ET

from tests.sparks import NEWEST, SPARK_35

ROOT = Path(__file__).resolve().parent.parent
REPORTS = ROOT / "target" / "pytest-reports"
# A Spark that lives for seconds is done sooner without the optimizing compiler: 17 tests took 49
# seconds of CPU instead of 88. The Scala tests run as users do.
SHORT_LIVED_SPARK = {"JDK_JAVA_OPTIONS": "-XX:TieredStopAtLevel=1"}
# `.ci/run` sets it to end in time: see CONTRIBUTING.md.
IS_SHORT = float(os.environ.get("SPARK_KINESIS_TEST_SHARE", "1")) < 1
BUDGET_SECONDS = float(os.environ.get("SPARK_KINESIS_TEST_SECONDS", "inf"))
SLOW = "slow and not long" if IS_SHORT else "slow"
LIMIT_SECONDS = 2700.0  # of a part: more than twice what the longest one takes on two slow cores


@dataclass(frozen=True, kw_only=True)
class Part:
    """A command that runs tests, and where it reports."""

    name: str
    command: list[str]
    reports: str
    environment: dict[str, str] = field(default_factory=dict)


def pytest_part(name: str, *tests: str, spark: str | None = None) -> Part:
    """Some Python tests in a process of its own, on another Spark where one is named."""
    report = REPORTS / f"{name}.xml"
    python = [sys.executable, *(["-m", "tests.sparks", spark] if spark else [])]
    config = ["-c", "python/pyproject.toml", "--rootdir", "."]
    command = [*python, "-m", "pytest", *config, f"--junitxml={report}", *tests]
    starts_spark = any(test.startswith(("tests/e2e", "tests/docs", "examples")) for test in tests)
    return Part(
        name=name,
        command=command,
        reports=str(report.relative_to(ROOT)),
        environment=SHORT_LIVED_SPARK if starts_spark else {},
    )


def spark_part(spark: str) -> Part:
    """The end-to-end tests on a given Spark, as far as it can run them.

    The tests of a cluster take minutes and are about Spark's scheduler: they run on the oldest
    Spark only.
    """
    left_out = ["cluster", "spark4"] if spark == SPARK_35 else ["cluster"]
    chosen = " and ".join(f"not {marker}" for marker in left_out)
    return pytest_part(f"e2e-{spark}", "-m", chosen, "tests/e2e", spark=spark)


# They use the interfaces of Spark that change from version to version.
NEWEST_FILES = (
    "package/test_connect",
    "package/test_jars",
    "sink/test_exactly_once",
    "sink/test_real_time",
    "sink/test_write",
    "source/test_batch",
    "source/test_checkpoints",
    "source/test_columns",
    "source/test_real_time",
    "source/test_replay",
    "source/test_replay_real_time",
    "source/test_resharding",
    "source/test_source",
    "source/test_triggers",
)


def newest_part() -> Part:
    """What may differ on the newest Spark. `make test-spark` runs all end-to-end tests on it."""
    chosen = "not slow and not cluster and not service"
    paths = [f"tests/e2e/{name}.py" for name in NEWEST_FILES]
    return pytest_part(f"e2e-{NEWEST}", "-m", chosen, *paths, spark=NEWEST)


def scala_part(scope: str, *tasks: str) -> Part:
    """The Scala tests of a scope: see `TestScope` in the connector's tests."""
    return Part(
        name=f"scala-{scope}",
        command=["project/sbt", *tasks],
        reports="**/target/test-reports/*.xml",
        environment={"SPARK_KINESIS_TESTS": scope},
    )


SIMULATOR = pytest_part("simulator", "tests/simulator")
CONFORMANCE = pytest_part("conformance", "tests/conformance")  # reads the reports of other parts

SCOPES = {
    "quick": [
        scala_part("quick", "test"),
        pytest_part("python", "python/tests", "tests/golden"),
        pytest_part("packaging", "tests/packaging"),
        pytest_part("docs", "-m", "not slow", "tests/docs"),
        SIMULATOR,
        CONFORMANCE,
        pytest_part("e2e", "-m", "not slow and not cluster", "tests/e2e"),
        pytest_part("logs", "-m", "not slow", "examples/log-processing"),
    ],
    "rest": [
        newest_part(),
        pytest_part("e2e-slow", "-m", f"({SLOW}) or cluster", "tests/e2e"),
        pytest_part("docs-site", "-m", SLOW, "tests/docs"),
        pytest_part("logs-slow", "-m", SLOW, "examples/log-processing"),
        scala_part("rest", "test"),
        # `.ci/run` has just run these two.
        *([] if IS_SHORT else [SIMULATOR, CONFORMANCE]),
    ],
    "bench": [
        Part(
            name="bench",
            command=["project/sbt", "bench/test"],
            reports="tests/bench/target/test-reports/*.xml",
        ),
    ],
}


@dataclass
class Tally:
    """What became of some tests."""

    passed: int = 0
    failed: list[str] = field(default_factory=list)
    skipped: list[str] = field(default_factory=list)

    def add(self, other: Tally) -> None:
        """Count others too."""
        self.passed += other.passed
        self.failed += other.failed
        self.skipped += other.skipped

    def __str__(self) -> str:
        skipped = f", {len(self.skipped)} skipped" if self.skipped else ""
        return f"{self.passed} passed, {len(self.failed)} failed{skipped}"


def run_each(parts: list[Part], budget_seconds: float) -> tuple[Tally, list[str]]:
    """What became of all tests, and the parts that did not begin within the budget."""
    started = time.monotonic()
    total, left_out = Tally(), []
    for part in parts:
        if time.monotonic() - started >= budget_seconds:
            left_out.append(part.name)
        else:
            total.add(run(part))
    return total, left_out


def run(part: Part, limit_seconds: float = LIMIT_SECONDS) -> Tally:
    """What became of a part's tests."""
    for stale in ROOT.glob(part.reports):
        stale.unlink()
    print(f"== {part.name}", flush=True)
    started = time.monotonic()
    status = execute(part.command, limit_seconds, part.environment)
    tally = Tally()
    for report in sorted(ROOT.glob(part.reports)):
        tally.add(read(report))
    if status is None:
        tally.failed.append(f"{part.name}: not done within {limit_seconds:.0f} s, and ended")
    elif not tally.failed and (status != 0 or tally.passed == 0):
        tally.failed.append(
            f"{part.name}: ended with status {status} and {tally.passed} passed tests"
        )
    print(f"== {part.name}: {tally}, {time.monotonic() - started:.0f} s", flush=True)
    return tally


def execute(command: list[str], limit_seconds: float, environment: dict[str, str]) -> int | None:
    """A command's exit status; nothing where it took too long, and was ended with its children."""
    process = subprocess.Popen(
        command,
        cwd=ROOT,
        stdin=subprocess.DEVNULL,
        start_new_session=True,
        env={**os.environ, **environment},
    )
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
        return Tally(failed=[f"{report.name} cannot be read: {error}"])
    tally = Tally()
    for case in root.iter("testcase"):
        name = f"{case.get('classname')}: {case.get('name')}"
        if case.find("failure") is not None or case.find("error") is not None:
            tally.failed.append(name)
        elif case.find("skipped") is not None:
            tally.skipped.append(name)
        else:
            tally.passed += 1
    return tally


def main(scope: str, *names: str) -> int:
    """Run the named parts of a scope, or all of them."""
    parts = {part.name: part for part in SCOPES.get(scope, [])}
    if not parts:
        sys.exit(f"Unknown scope '{scope}': expected {' or '.join(SCOPES)}.")
    if unknown := set(names) - parts.keys():
        sys.exit(f"Unknown parts {', '.join(sorted(unknown))}: expected {', '.join(parts)}.")
    total, left_out = run_each([parts[name] for name in names or parts], BUDGET_SECONDS)
    for name in left_out:
        print(f"left out: {name}, because {BUDGET_SECONDS:.0f} s were over")
    for skipped in total.skipped:
        print(f"skipped: {skipped}")
    for failed in total.failed:
        print(f"failed: {failed}")
    print(total)
    return 1 if total.failed or not total.passed else 0


if __name__ == "__main__":
    sys.exit(main(*(sys.argv[1:] or ["quick"])))
