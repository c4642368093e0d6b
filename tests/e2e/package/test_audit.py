"""The audit of exactly-once rows: what it counts, from rows made by hand, and its command."""

from __future__ import annotations

import os
import subprocess
import sys
from dataclasses import astuple
from typing import TYPE_CHECKING

import pytest

from spark_kinesis.audit.counts import QueryAudit, audit_rows
from tests.e2e.support.streams import REGION, Stream

if TYPE_CHECKING:
    from pathlib import Path

    from pyspark.sql import SparkSession

pytestmark = pytest.mark.spark4  # Spark 3.5 has no metadata columns

WRITER = (
    "struct<query:string,batch:bigint,incarnation:string,run:bigint,partition:int,task:bigint,"
    "aggregate:bigint>"
)
SCHEMA = (
    "partitionKey string, data binary, shardId string, sequenceNumber string, "
    f"subSequenceNumber bigint, writerId {WRITER}"
)


def row(
    data: str, place: int, batch: int = 1, task: int = 0, number: int = 1, **of: int | str
) -> tuple[object, ...]:
    """A row of an aggregate. Each has one row, unless `sub` numbers it."""
    writer = ("q", batch, of.get("incarnation", "i"), of.get("run", 0), 0, task, number)
    return ("key", data.encode(), "shard", str(place), of.get("sub", 0), writer)


BEFORE, AFTER = row("before", 1, batch=0), row("after", 99, batch=2)


def audited(spark: SparkSession, *rows: tuple[object, ...]) -> QueryAudit:
    """The audit of a batch between two others."""
    (result,) = audit_rows(spark.createDataFrame([BEFORE, *rows, AFTER], SCHEMA))
    return result


def counts(result: QueryAudit) -> dict[str, int]:
    """The counts that are not zero, except the number of rows and batches."""
    skipped = ("query", "rows", "first_batch", "last_batch")
    return {name: n for name, n in vars(result).items() if n and name not in skipped}


def test_rows_that_were_written_once_are_clean(spark: SparkSession) -> None:
    result = audited(spark, row("a", 2), row("b", 2, sub=1), row("c", 3, number=2))
    assert result.is_clean
    assert astuple(result)[:4] == ("q", 5, 0, 2)
    assert counts(result) == {}


def test_a_record_that_is_there_twice_counts_once(spark: SparkSession) -> None:
    twice = [row("a", place, sub=sub) for place in (2, 3) for sub in (0, 1)]
    result = audited(spark, *twice, row("b", 4, number=2))
    assert counts(result) == {"repeated_records": 1, "equal_rows": 1}
    assert not result.is_clean


def test_a_row_of_two_attempts_is_repeated(spark: SparkSession) -> None:
    for other in ({"task": 1}, {"run": 1}, {"incarnation": "j"}):
        result = audited(spark, row("a", 2), row("b", 2, sub=1), row("a", 3, **other))
        found = counts(result)
        assert found.pop("rewritten_batches", 0) == ("incarnation" in other)
        assert found == {"repeated_rows": 1}
        assert not result.is_clean


def test_equal_rows_of_one_attempt_may_be_right(spark: SparkSession) -> None:
    result = audited(spark, row("a", 2), row("a", 2, sub=1))
    assert counts(result) == {"equal_rows": 1}
    assert result.is_clean


def test_a_number_that_the_last_attempt_has_not_is_missing(spark: SparkSession) -> None:
    lost = row("a", 2), row("c", 3, number=3)
    assert counts(audited(spark, *lost)) == {"missing_records": 1}
    later = row("b", 4, task=1)
    assert counts(audited(spark, *lost, later)) == {}, "a later attempt wrote what was missing"
    edge = row("d", 98, batch=2, number=2)
    assert counts(audited(spark, row("a", 2), edge)) == {}, "the last batch may be cut"


def test_batches_without_rows_are_counted(spark: SparkSession) -> None:
    result = audited(spark)
    assert counts(result) == {"missing_batches": 1}
    assert result.is_clean


def command(stream: Stream) -> tuple[int, str]:
    """The exit code and the words of the command."""
    keys = {"AWS_ACCESS_KEY_ID": "local", "AWS_SECRET_ACCESS_KEY": "local"}
    words = [sys.executable, "-m", "spark_kinesis.audit", stream.name, "--region", REGION]
    ended = subprocess.run(
        [*words, "--endpoint", stream.endpoint],
        env={**os.environ, **keys},
        capture_output=True,
        text=True,
        timeout=240,
        check=False,
    )
    return ended.returncode, ended.stdout + ended.stderr[-3000:]


@pytest.mark.service
@pytest.mark.slow  # starts Spark again
def test_the_command_says_what_a_query_wrote(
    spark: SparkSession, simulator: str, checkpoint: Path
) -> None:
    source, target = Stream(simulator), Stream(simulator)
    code, shown = command(target)
    assert code == 2, shown
    assert "no exactly-once row" in shown
    source.put(100)
    sink = target.sink(aggregation="kpl", delivery_guarantee="exactly_once")
    rows = source.source().read_stream(spark).select("partitionKey", "data")
    query = sink.write_stream(rows, checkpoint_location=checkpoint).trigger(availableNow=True)
    query.start().awaitTermination()
    code, shown = command(target)
    assert code == 0, shown
    assert ": clean" in shown
    assert "100" in shown
    for record in {record["Data"] for _, record in target.raw_records()}:
        target.put_raw(record, "a")
    code, shown = command(target)
    assert code == 1, shown
    assert "NOT CLEAN" in shown
