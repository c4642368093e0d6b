"""`spark_kinesis.tools.doctor` in Spark sessions, and with the checkpoint of a real query."""

from __future__ import annotations

import os
import shutil
import subprocess
import sys
from pathlib import Path
from typing import TYPE_CHECKING

import pytest

from spark_kinesis import __version__, jar_path
from spark_kinesis.tools import doctor
from spark_kinesis.tools.examination import Finding, Report, State
from tests.e2e.support.streams import Stream

if TYPE_CHECKING:
    from pyspark.sql import SparkSession


def of(report: Report, subject: str) -> list[Finding]:
    return [it for it in report if it.subject == subject]


def test_the_active_session_has_the_jar_once(spark: SparkSession, simulator: str) -> None:
    report = doctor(endpoint=simulator)
    assert report.is_healthy, report
    (jar,) = of(report, "jar")
    assert Path(jar_path()).name in jar.seen
    assert spark.version in of(report, "spark")[0].seen


PROGRAM = """
import sys
from pyspark.sql import SparkSession
from spark_kinesis.tools import doctor

kind, jars = sys.argv[1:]
builder = SparkSession.builder.config("spark.jars", jars).config("spark.ui.enabled", "false")
spark = (builder.remote if kind == "connect" else builder.master)("local[1]").getOrCreate()
for it in doctor(spark=spark):
    print(it.state.value, it.subject, it.seen, sep="|")
"""


def lines_with(jars: str, kind: str = "classic") -> list[list[str]]:
    """The findings in a new session with these jars."""
    ended = subprocess.run(
        [sys.executable, "-c", PROGRAM, kind, jars],
        env={**os.environ, "PYSPARK_SUBMIT_ARGS": "pyspark-shell"},
        capture_output=True,
        text=True,
        timeout=180,
        check=True,
    )
    return [line.split("|") for line in ended.stdout.splitlines() if "|jar|" in line]


def test_a_session_without_the_jar_is_a_problem() -> None:
    ((state, _, seen),) = lines_with("")
    assert (state, seen) == ("problem", "the running session has no connector")


@pytest.mark.spark4
@pytest.mark.slow  # starts Spark again
def test_a_connect_session_shows_whether_it_has_the_connector() -> None:
    ((state, _, seen),) = lines_with("", "connect")
    assert (state, seen) == ("problem", "the running session has no connector")
    ((state, _, seen),) = lines_with(jar_path(), "connect")
    assert (state, seen) == ("ok", "the session has the connector")


def test_a_jar_that_is_there_twice_is_seen(tmp_path: Path) -> None:
    other = tmp_path / Path(jar_path()).name.replace(__version__, "0.0.1")
    shutil.copy(jar_path(), other)
    ((state, _, seen),) = lines_with(f"{jar_path()},{other}")
    assert (state, "2 times" in seen, other.name in seen) == ("problem", True, True)


def test_the_checkpoint_of_a_query_is_examined(
    spark: SparkSession, simulator: str, checkpoint: Path
) -> None:
    stream = Stream(simulator, 2)
    stream.put(100)
    query = (
        stream.source(starting_position="trim_horizon")
        .read_stream(spark)
        .writeStream.format("noop")
        .option("checkpointLocation", str(checkpoint))
        .trigger(availableNow=True)
        .start()
    )
    query.awaitTermination()
    report = doctor(stream.name, checkpoint=str(checkpoint), endpoint=stream.endpoint, spark=spark)
    assert report.is_healthy, report
    assert of(report, "lag")[0].seen == f"{stream.name} is read to its end"
    assert of(report, "loss")[0].state is State.OK
    assert "the query continues after it" in of(report, "log")[0].seen
