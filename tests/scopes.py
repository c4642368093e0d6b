"""The parts of the tests, and which of them run side by side.

`make test` runs the scope `quick`: every kind of test, with fewer seeds, on one Spark.
`make test-all` runs the scope `rest`: what the quick scope reduces or leaves out.
`make test-bench` runs the scope `bench`: the whole benchmark with hardly any data.
CONTRIBUTING.md says what each part costs.
"""

from __future__ import annotations

import os
import sys
from dataclasses import dataclass, field

from tests.sparks import NEWEST, SPARK_35

REPORTS = "target/pytest-reports"
# A Spark that lives for seconds is done sooner without the optimizing compiler: 17 tests took 49
# seconds of CPU instead of 88. The Scala tests run as users do.
SHORT_LIVED_SPARK = {"JDK_JAVA_OPTIONS": "-XX:TieredStopAtLevel=1"}
# `.ci/run` sets it to end in time: see CONTRIBUTING.md.
IS_SHORT = float(os.environ.get("SPARK_KINESIS_TEST_SHARE", "1")) < 1
SLOW = "slow and not long" if IS_SHORT else "slow"


@dataclass(frozen=True, kw_only=True)
class Part:
    """A command that runs tests, and where it reports."""

    name: str
    command: list[str]
    reports: str
    environment: dict[str, str] = field(default_factory=dict)


def pytest_part(name: str, *tests: str, spark: str | None = None) -> Part:
    """Some Python tests in a process of its own, on another Spark where one is named."""
    report = f"{REPORTS}/{name}.xml"
    python = [sys.executable, *(["-m", "tests.sparks", spark] if spark else [])]
    config = ["-c", "python/pyproject.toml", "--rootdir", "."]
    command = [*python, "-m", "pytest", *config, f"--junitxml={report}", *tests]
    starts_spark = any(test.startswith(("tests/e2e", "tests/docs", "examples")) for test in tests)
    return Part(
        name=name,
        command=command,
        reports=report,
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
    "package/test_rewind",
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
RUN_BEFORE = [] if IS_SHORT else [SIMULATOR]  # `.ci/run` has just run it


@dataclass(frozen=True)
class Scope:
    """Lanes of parts that run side by side, and parts that run after them."""

    lanes: list[list[Part]]
    last: list[Part] = field(default_factory=list)

    def parts(self) -> list[Part]:
        """All parts."""
        return [*(part for lane in self.lanes for part in lane), *self.last]

    def only(self, names: tuple[str, ...]) -> Scope:
        """The named parts, or all if none is named."""
        chosen = names or tuple(part.name for part in self.parts())
        lanes = [[part for part in lane if part.name in chosen] for lane in self.lanes]
        return Scope(lanes, [part for part in self.last if part.name in chosen])


SCOPES = {
    "quick": Scope(
        lanes=[
            [scala_part("quick", "test")],
            [
                pytest_part("python", "python/tests", "tests/golden"),
                pytest_part("packaging", "tests/packaging"),
                pytest_part("docs", "-m", "not slow", "tests/docs"),
                SIMULATOR,
                pytest_part("e2e", "-m", "not slow and not cluster", "tests/e2e"),
                pytest_part("logs", "-m", "not slow", "examples/log-processing"),
            ],
        ],
        last=[CONFORMANCE],
    ),
    "rest": Scope(
        lanes=[
            [scala_part("rest", "test")],
            [
                newest_part(),
                pytest_part("docs-site", "-m", SLOW, "tests/docs"),
                pytest_part("e2e-slow", "-m", f"({SLOW}) or cluster", "tests/e2e"),
                pytest_part("logs-slow", "-m", SLOW, "examples/log-processing"),
                *RUN_BEFORE,
            ],
        ],
        last=[CONFORMANCE],
    ),
    "bench": Scope(
        lanes=[
            [
                Part(
                    name="bench",
                    command=["project/sbt", "bench/test"],
                    reports="tests/bench/target/test-reports/*.xml",
                )
            ]
        ]
    ),
}
