"""The parts of the tests, and which of them run side by side.

`make test` runs the scope `quick`: every kind of test, with fewer seeds, on one Spark.
`make test-all` runs the scope `rest`: what the quick scope reduces or leaves out.
`.ci/run` runs the scope `ci`: both in one, with a tenth of the seeds and without tests marked
`long`, and the checks.
`make test-bench` runs the scope `bench`: the whole benchmark with hardly any data.
CONTRIBUTING.md says what each part costs.
"""

from __future__ import annotations

import sys
from dataclasses import dataclass, field, replace

from tests.sparks import NEWEST, SPARK_35

REPORTS = "target/pytest-reports"
# A JVM that lives for seconds is done sooner without the optimizing compiler: 17 tests with Spark
# took 49 seconds of CPU instead of 88. With one thread for garbage, too, four starts of the local
# Kinesis took 5.9 seconds of CPU instead of 9.2. The Scala tests run as users do.
SHORT_LIVED_JVMS = {"JDK_JAVA_OPTIONS": "-XX:TieredStopAtLevel=1 -XX:+UseSerialGC"}


@dataclass(frozen=True, kw_only=True)
class Part:
    """A command that runs tests, and where it reports. Without reports, the command is one test."""

    name: str
    command: list[str]
    reports: str = ""
    environment: dict[str, str] = field(default_factory=dict)
    is_optional: bool = False
    """Whether it may be left out when time is short."""


def pytest_part(name: str, *tests: str, by: tuple[str, ...] = ()) -> Part:
    """Some Python tests in a process of its own, by the Python of another environment if named."""
    report = f"{REPORTS}/{name}.xml"
    python = [sys.executable, *(["-m", *by] if by else [])]
    config = ["-c", "python/pyproject.toml", "--rootdir", "."]
    command = [*python, "-m", "pytest", *config, f"--junitxml={report}", *tests]
    return Part(name=name, command=command, reports=report, environment=SHORT_LIVED_JVMS)


def spark_part(spark: str, chosen: str = "", *tests: str) -> Part:
    """The end-to-end tests on a given Spark, as far as it can run them, or some of them.

    The tests of a cluster take minutes and are about Spark's scheduler: they run on the oldest
    Spark only.
    """
    left_out = ["cluster", "spark4"] if spark == SPARK_35 else ["cluster"]
    markers = " and ".join([*(f"not {marker}" for marker in left_out), *filter(None, [chosen])])
    paths = tests or ("tests/e2e",)
    return pytest_part(f"e2e-{spark}", "-m", markers, *paths, by=("tests.sparks", spark))


# Why CI skips tests. Any other reason, such as a browser that is not found, makes it red.
# It is searched in `<class>: <test>: <reason>`. In Scala, the name of the test has the reason.
MAY_SKIP = r"""(?x)
  :[ ]this[ ]Spark[ ]   # has no such interface: the newest Spark runs these smoke tests
| [ ]\(lacks:[ ].+\)$    # a rule of Kinesis that another server does not have
| :[ ]not[ ]run:[ ]AWS[ ]is[ ]asked[ ]only[ ]where
| :[ ]not[ ]run:[ ]LocalStack[ ]needs[ ]Docker
| :[ ]promtool[ ]is[ ]not[ ]installed
| :[ ]terraform[ ]is[ ]not[ ]installed | :[ ]set[ ]TERRAFORM_PLUGIN_DIR
| :[ ]the[ ]records[ ]of[ ]this[ ]older[ ]release[ ]have[ ]expired
| could[ ]not[ ]import[ ]'mypy.api'   # the part `python` has it
| ^[\w-]+:[ ]left[ ]out$  # the optional parts
"""

# They use the interfaces of Spark that change from version to version. The oldest Spark has no
# real-time mode.
SMOKE_TESTS = tuple(
    f"tests/e2e/{test}"
    for test in (
        "package/test_packages.py",
        "package/test_connect.py::test_spark_connect_writes_and_reads",
        "package/test_rewind.py::test_a_query_goes_back_to_a_time",
        "package/test_rewind.py::test_a_query_whose_source_has_a_name_is_moved",
        "sink/test_exactly_once.py",
        "sink/test_order.py::test_a_streaming_query_keeps_the_order",
        "sink/test_real_time.py",
        "sink/test_rows.py::test_bad_rows_are_stored_and_can_be_fixed",
        "sink/test_write.py::test_all_rows_of_a_batch_write_arrive",
        "sink/test_write.py::test_a_restarted_query_continues_where_it_stopped",
        "sink/test_write.py::test_progress_reports_the_counts_of_the_sink",
        "source/test_batch.py::test_a_batch_read_has_all_records_across_reshards",
        "source/test_columns.py",
        "source/test_names.py",
        "source/test_pipelines.py",
        "package/test_sql.py",
        "source/test_real_time.py",
        "source/test_replay.py::test_both_formats_of_the_log_are_read",
        "source/test_replay_real_time.py",
        "source/test_source.py::test_batches_respect_the_limit_of_bytes",
        "source/test_triggers.py::test_progress_reports_shards_and_lag",
    )
)


def smoke_part(spark: str) -> Part:
    """What may differ on another Spark. `make test-spark` runs all end-to-end tests on it."""
    return spark_part(spark, "not slow and not service", *SMOKE_TESTS)


def python_part(kind: str, *more: str) -> Part:
    """The Python tests with the lowest or the newest packages: see `tests/pythons.py`."""
    tests = ("python/tests", "tests/golden/test_public_api.py")
    return pytest_part(f"python-{kind}", *more, *tests, by=("tests.pythons", kind))


def scala_part(scope: str) -> Part:
    """The Scala tests of a scope: see `TestScope` in the connector's tests."""
    return Part(
        name=f"scala-{scope}",
        command=["project/sbt", "test"],
        reports="**/target/test-reports/*.xml",
        environment={"SPARK_KINESIS_TESTS": scope},
    )


def make_part(target: str, *variables: str) -> Part:
    """A command of the Makefile that succeeds or fails."""
    return Part(name=f"make-{target}", command=["make", target, *variables])


PYTHON = pytest_part("python", "python/tests", "tests/golden")
SIMULATOR = pytest_part("simulator", "tests/simulator")
# A small round of two parts of `make campaign`. The page of the documentation stays as it is.
CAMPAIGN = Part(
    name="campaign",
    command=[
        *(sys.executable, "-m", "tests.campaign", "histories,fuzz"),
        *("--hours", "0", "--folder", "target/campaign-ci"),
    ],
    environment={"SPARK_KINESIS_TESTS": "ci"},
)
CONFORMANCE = pytest_part("conformance", "tests/conformance")  # reads the reports of other parts
LOGS = pytest_part("logs", "-m", "not slow", "examples/log-processing")
DOCS = pytest_part("docs", "-m", "not slow", "tests/docs")
# The lowest packages warn about newer Pythons and about each other.
OTHER_PYTHONS = [python_part("lowest", "-Wignore::DeprecationWarning"), python_part("newest")]


@dataclass(frozen=True)
class Scope:
    """Lanes of parts that run side by side.

    The parts of a lane run one after the other: at most one lane uses sbt.
    """

    lanes: list[list[Part]]
    shared: list[Part] = field(default_factory=list)
    """Parts that a lane runs, in this order, when it has run its own."""
    last: list[Part] = field(default_factory=list)
    """Parts that run after all others."""
    proves: bool = False
    """Whether a whole run proves the invariants in docs/architecture.md."""
    may_skip: str | None = None
    """An expression that the name and reason of each skipped test must have. Default: any."""

    def parts(self) -> list[Part]:
        """All parts."""
        return [*(part for lane in self.lanes for part in lane), *self.shared, *self.last]

    def only(self, names: tuple[str, ...]) -> Scope:
        """The named parts, or all if none is named."""
        if not names:
            return self

        def chosen(parts: list[Part]) -> list[Part]:
            return [part for part in parts if part.name in names]

        lanes = [chosen(lane) for lane in self.lanes]
        return Scope(lanes, chosen(self.shared), chosen(self.last))


SCOPES = {
    "quick": Scope(
        lanes=[
            [scala_part("quick")],
            [pytest_part("e2e", "-m", "not slow and not cluster", "tests/e2e"), SIMULATOR],
        ],
        shared=[LOGS, PYTHON, pytest_part("packaging", "-m", "not slow", "tests/packaging"), DOCS],
        last=[CONFORMANCE],
        proves=True,
    ),
    "rest": Scope(
        lanes=[
            [scala_part("rest")],
            [
                pytest_part("e2e-slow", "-m", "slow or cluster", "tests/e2e"),
                smoke_part(NEWEST),
                smoke_part(SPARK_35),
                *OTHER_PYTHONS,
                pytest_part("packaging-slow", "-m", "slow", "tests/packaging"),
                pytest_part("docs-site", "-m", "slow", "tests/docs"),
                pytest_part("logs-slow", "-m", "slow", "examples/log-processing"),
                SIMULATOR,
            ],
        ],
        last=[CONFORMANCE],
    ),
    "ci": Scope(
        lanes=[
            [
                make_part("check"),
                make_part("release", "LOCAL=1"),
                pytest_part("packaging", "-m", "not long", "tests/packaging"),
                smoke_part(SPARK_35),
                scala_part("ci"),
                CAMPAIGN,
            ],
            [  # they take half of the time
                pytest_part("cluster", "-m", "cluster and not long", "tests/e2e"),
                pytest_part("e2e", "-m", "not cluster and not long", "tests/e2e"),
            ],
        ],
        shared=[
            smoke_part(NEWEST),
            SIMULATOR,
            PYTHON,
            LOGS,
            DOCS,
            *OTHER_PYTHONS,
            make_part("docs"),
            replace(
                pytest_part("docs-site", "-m", "slow and not long", "tests/docs"),
                is_optional=True,
            ),
            replace(
                pytest_part("logs-slow", "-m", "slow and not long", "examples/log-processing"),
                is_optional=True,
            ),
        ],
        last=[CONFORMANCE],
        proves=True,
        may_skip=MAY_SKIP,
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
