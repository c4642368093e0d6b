"""The audit of exactly-once rows: what it counts, from rows made by hand, and its command."""

from __future__ import annotations

import os
import subprocess
import sys
from dataclasses import astuple
from typing import TYPE_CHECKING, Any

import pytest

from spark_kinesis.tools.auditing import QueryAudit, audit_rows
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


Row = tuple[Any, ...]


def row(
    data: str, place: int, batch: int = 1, task: int = 0, number: int = 1, **of: int | str
) -> Row:
    """A row of an aggregate. Each has one row, unless `sub` numbers it."""
    writer = (batch, of.get("incarnation", "i"), of.get("run", 0), 0, task, number)
    return ("key", data.encode(), "shard", str(place), of.get("sub", 0), writer)


BEFORE, AFTER = row("before", 1, batch=0), row("after", 99, batch=2)
LOST = [row("a", 2), row("c", 3, number=3)]
# The rows of each query, between a batch before them and one after them.
QUERIES: dict[str, list[Row]] = {
    "each once": [row("a", 2), row("b", 2, sub=1), row("c", 3, number=2)],
    "record twice": [
        *(row("a", place, sub=sub) for place in (2, 3) for sub in (0, 1)),
        row("b", 4, number=2),
    ],
    "two tasks": [row("a", 2), row("b", 2, sub=1), row("a", 3, task=1)],
    "two runs": [row("a", 2), row("b", 2, sub=1), row("a", 3, run=1)],
    "two incarnations": [row("a", 2), row("b", 2, sub=1), row("a", 3, incarnation="j")],
    "equal rows": [row("a", 2), row("a", 2, sub=1)],
    "lost": LOST,
    "lost and written later": [*LOST, row("b", 4, task=1)],
    "cut at the end": [row("a", 2), row("d", 98, batch=2, number=2)],
    "empty batch": [],
}


@pytest.fixture(scope="module")
def audits(spark: SparkSession) -> dict[str, QueryAudit]:
    """The audit of each query. One run of Spark counts all of them."""
    rows = [
        (*columns, (query, *writer))
        for query, inner in QUERIES.items()
        for *columns, writer in [BEFORE, *inner, AFTER]
    ]
    return {it.query: it for it in audit_rows(spark.createDataFrame(rows, SCHEMA))}


def counts(result: QueryAudit) -> dict[str, int]:
    """The counts that are not zero, except the number of rows and batches."""
    skipped = ("query", "rows", "first_batch", "last_batch")
    return {name: n for name, n in vars(result).items() if n and name not in skipped}


def test_a_query_has_its_rows_and_batches(audits: dict[str, QueryAudit]) -> None:
    assert audits.keys() == QUERIES.keys()
    assert astuple(audits["each once"])[:4] == ("each once", 5, 0, 2)


@pytest.mark.parametrize(
    ("query", "expected", "is_clean"),
    [
        ("each once", {}, True),
        ("record twice", {"repeated_records": 1}, False),
        ("two tasks", {"repeated_rows": 1}, False),
        ("two runs", {"repeated_rows": 1}, False),
        ("two incarnations", {"repeated_rows": 1, "rewritten_batches": 1}, False),
        ("equal rows", {}, True),
        ("lost", {"missing_records": 1}, False),
        ("lost and written later", {}, True),
        ("cut at the end", {}, True),
        ("empty batch", {}, True),
    ],
)
def test_what_a_query_wrote_is_counted(
    audits: dict[str, QueryAudit], query: str, expected: dict[str, int], is_clean: bool
) -> None:
    assert counts(audits[query]) == expected
    assert audits[query].is_clean == is_clean


def command(stream: Stream) -> tuple[int, str]:
    """The exit code and the words of the command."""
    keys = {"AWS_ACCESS_KEY_ID": "local", "AWS_SECRET_ACCESS_KEY": "local"}
    words = [sys.executable, "-m", "spark_kinesis", "audit", "--stream", stream.name]
    ended = subprocess.run(
        [*words, "--region", REGION, "--endpoint", stream.endpoint],
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
