"""Counts the duplicates and the gaps in what exactly-once queries have written to a stream.

The function ``audit`` and the command ``spark-kinesis audit`` read the stream itself, with a batch
query.
"""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from datetime import datetime
from typing import TYPE_CHECKING, Any

import click

from spark_kinesis import (
    AtTimestamp,
    KinesisSource,
    MissingPackageError,
    SparkKinesisError,
    TrimHorizon,
    with_kinesis,
)
from spark_kinesis._extras import SPARK

from .cli import FORMS, TIME, Connection, connection_options, print_json

if TYPE_CHECKING:
    from pyspark.sql import DataFrame, SparkSession

__all__ = ["QueryAudit", "audit"]

_COLUMNS = (
    "writerId.*",
    "concat(shardId, ' ', sequenceNumber) AS place",
    "subSequenceNumber AS sub",
    "sha2(concat(binary(length(partitionKey) || ':' || partitionKey), data), 256) AS content",
)

_SUMS = """
WITH records AS (
  SELECT query, batch, incarnation, run, partition, task, aggregate,
    count(DISTINCT place) - 1 AS repeated
  FROM {rows} GROUP BY query, batch, incarnation, run, partition, task, aggregate
), attempts AS (
  SELECT query, batch, incarnation, run, partition, task,
    sum(repeated) AS repeated, max(aggregate) - count(*) AS missing
  FROM records GROUP BY query, batch, incarnation, run, partition, task
), ranked AS (
  SELECT *,
    run = max(run) OVER (PARTITION BY query, batch, incarnation)
      AND task = max(task) OVER (PARTITION BY query, batch, incarnation, run, partition)
      AND batch > min(batch) OVER (PARTITION BY query)
      AND batch < max(batch) OVER (PARTITION BY query) AS is_complete
  FROM attempts
), writers AS (
  SELECT query, batch, sum(repeated) AS repeated, count(DISTINCT incarnation) AS incarnations,
    sum(IF(is_complete, missing, 0)) AS missing
  FROM ranked GROUP BY query, batch
), copies AS (
  SELECT query, batch, content, count(DISTINCT aggregate, sub) AS copies
  FROM {rows} GROUP BY query, batch, content, incarnation, run, partition, task
), contents AS (
  SELECT query, batch, content, sum(copies) AS total, max(copies) AS most
  FROM copies GROUP BY query, batch, content
), batches AS (
  SELECT query, batch, sum(total) AS total, sum(total - most) AS repeated, sum(most - 1) AS equal
  FROM contents GROUP BY query, batch
)
SELECT query,
  sum(batches.total) AS rows,
  min(batch) AS first_batch,
  max(batch) AS last_batch,
  sum(writers.repeated) AS repeated_records,
  sum(batches.repeated) AS repeated_rows,
  count_if(incarnations > 1) AS rewritten_batches,
  sum(missing) AS missing_records,
  max(batch) - min(batch) + 1 - count(*) AS missing_batches,
  sum(batches.equal) AS equal_rows
FROM writers JOIN batches USING (query, batch) GROUP BY query ORDER BY query
"""


@dataclass(frozen=True, kw_only=True)
class QueryAudit:
    """What a stream contains of one query. Counts only rows that carry the query's identity.

    Attributes:
        query: ID of the streaming query, or ``write_id`` of the batch write.
        rows: number of rows, without those of repeated records.
        first_batch: lowest number of a micro-batch that has a row.
        last_batch: highest number of a micro-batch that has a row.
        repeated_records: number of aggregated records that are in the stream once more. All rows of
            such a record are duplicates.
        repeated_rows: number of rows that several attempts to write a micro-batch wrote. They are
            duplicates, unless the micro-batch contains equal rows and a part of them was written
            before a crash and the rest after it.
        rewritten_batches: number of micro-batches with rows of several incarnations, for example
            after a checkpoint was copied or rewound.
        missing_records: number of aggregated records that the last attempt of a task has numbered
            and that are not in the stream. Does not look at the first and the last micro-batch,
            which the read may cut, or which may still be running.
        missing_batches: number of micro-batches without a row between the first and the last. A
            micro-batch without output rows has none, so this is not an error by itself.
        equal_rows: number of rows that equal another row of the same attempt in key and data. The
            audit cannot know whether the micro-batch contains them that often.
    """

    query: str
    rows: int
    first_batch: int
    last_batch: int
    repeated_records: int
    repeated_rows: int
    rewritten_batches: int
    missing_records: int
    missing_batches: int
    equal_rows: int

    @property
    def is_clean(self) -> bool:
        """Whether nothing is repeated, rewritten or missing. Ignores the last two counts."""
        faults = self.repeated_records + self.repeated_rows + self.rewritten_batches
        return faults + self.missing_records == 0


def audit(source: KinesisSource, spark: SparkSession) -> list[QueryAudit]:
    """Read a stream, and count the duplicates and gaps of each exactly-once query in it.

    The identities in the records show which records are in the stream twice, and which numbers are
    missing. They do not show a loss at the end of a task or of a whole task, because the numbers
    end there. Rows without an identity do not count.

    Args:
        source: the stream, and the range to read.
        spark: the session that reads it.

    Returns:
        One result per query, by ID.

    Raises:
        KinesisJarMissingError: if the connector's jar is not in the session.
        pyspark.errors.IllegalArgumentException: if the connector refuses an option.
    """
    return audit_rows(source.read(spark))


def audit_rows(frame: DataFrame) -> list[QueryAudit]:
    """Like ``audit``, for rows of the source with the column ``writerId``."""
    rows = frame.where("writerId IS NOT NULL").selectExpr(*_COLUMNS).persist()
    try:
        sums = frame.sparkSession.sql(_SUMS, rows=rows).collect()
    finally:
        rows.unpersist()
    return [QueryAudit(**row.asDict()) for row in sums]


@click.command("audit")
@click.option("--stream", required=True, metavar="NAME|ARN", help="stream to read")
@click.option("--since", type=TIME, help=f"begin: {FORMS} (default: the oldest record)")
@click.option("--until", type=TIME, help="end, in the same form (default: the last record now)")
@click.option("--json", "as_json", is_flag=True, help="print JSON")
@connection_options
def command(
    connection: Connection,
    *,
    stream: str,
    since: datetime | None,
    until: datetime | None,
    as_json: bool,
) -> int:
    """Count the duplicates and gaps of exactly-once queries in a stream.

    \b
    Examples:
      spark-kinesis audit --stream orders --region eu-west-1
      spark-kinesis audit --stream orders --since 2026-01-31T12:00+00:00

    'missing batches' and 'equal rows' are no fault, because a micro-batch may have no rows, or
    equal rows.

    Exit codes: 0 without duplicates and missing records, 1 with some, 2 an error, also if the
    stream has no row of an exactly-once query.
    """
    with _session() as spark:
        place: dict[str, Any] = {
            "stream_arn" if stream.startswith("arn:") else "stream_name": stream
        }
        source = KinesisSource(
            **place,
            **connection.source_arguments(),
            starting_position=AtTimestamp(since) if since else TrimHorizon(),
            ending_position=AtTimestamp(until) if until else None,
        )
        results = audit(source, spark)
    if not results:
        raise SparkKinesisError(f"stream {stream} has no exactly-once row here")
    if as_json:
        print_json(results)
    for result in () if as_json else results:
        click.echo(_text(result))
    return int(not all(result.is_clean for result in results))


@contextmanager
def _session() -> Iterator[SparkSession]:
    """A session, and its errors in one line."""
    try:
        from pyspark.errors import PySparkException  # noqa: PLC0415 optional, and slow to load
        from pyspark.sql import SparkSession  # noqa: PLC0415
    except ImportError as error:
        raise MissingPackageError(
            f"spark-kinesis audit needs pyspark: pip install {SPARK}"
        ) from error
    builder = SparkSession.Builder().config("spark.ui.showConsoleProgress", "false")
    spark = with_kinesis(builder).getOrCreate()
    try:
        yield spark
    except (PySparkException, ValueError) as error:
        raise SparkKinesisError(str(error)) from error
    finally:
        spark.stop()


def _text(result: QueryAudit) -> str:
    counts = vars(result).items()
    lines = [
        f"  {name.replace('_', ' '):<18}{value:>12,}" for name, value in counts if name != "query"
    ]
    verdict = "clean" if result.is_clean else "NOT CLEAN"
    return "\n".join([f"query {result.query}: {verdict}", *lines])
