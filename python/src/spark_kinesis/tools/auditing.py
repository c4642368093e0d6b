"""Counts the duplicates and the gaps in what exactly-once queries have written to a stream."""

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

from .cli import FORMS, TIME, Connection, connection_options, json_option, print_json

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
  SELECT query, batch, sum(total) AS total, sum(total - most) AS repeated
  FROM contents GROUP BY query, batch
)
SELECT query,
  sum(batches.total) AS rows,
  min(batch) AS first_batch,
  max(batch) AS last_batch,
  sum(writers.repeated) AS repeated_records,
  sum(batches.repeated) AS repeated_rows,
  count_if(incarnations > 1) AS rewritten_batches,
  sum(missing) AS missing_records
FROM writers JOIN batches USING (query, batch) GROUP BY query ORDER BY query
"""


@dataclass(frozen=True, kw_only=True)
class QueryAudit:
    """What a stream contains of one query. Counts only rows that carry the query's identity."""

    query: str  # ID of the streaming query, or ``write_id`` of the batch write
    rows: int  # number of rows, without those of repeated records
    first_batch: int  # lowest number of a micro-batch that has a row
    last_batch: int  # highest number of a micro-batch that has a row
    # Number of aggregated records that are in the stream once more: all their rows are duplicates.
    repeated_records: int
    # Number of rows that several attempts to write a micro-batch wrote. They are duplicates, unless
    # the micro-batch contains equal rows, and a crash came between them.
    repeated_rows: int
    # Number of micro-batches that were written from two states, as after a checkpoint was copied.
    rewritten_batches: int
    # Number of aggregated records that the last attempt of a task has numbered, and that are not in
    # the stream. The first and the last micro-batch do not count: the read may cut them.
    missing_records: int

    @property
    def is_clean(self) -> bool:
        """Whether nothing is repeated, rewritten or missing."""
        faults = self.repeated_records + self.repeated_rows + self.rewritten_batches
        return faults + self.missing_records == 0


def audit(source: KinesisSource, spark: SparkSession) -> list[QueryAudit]:
    """Read a stream, and count the duplicates and gaps of each exactly-once query in it.

    The identities in the records show which records are in the stream twice, and which numbers are
    missing, but not a loss at the end of a task, where the numbers end. Rows without an identity do
    not count.

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
@json_option
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
    else:
        for result in results:
            click.echo(f"query {result.query}: {'clean' if result.is_clean else 'NOT CLEAN'}")
            for name, count in list(vars(result).items())[1:]:
                click.echo(f"  {name.replace('_', ' '):<18}{count:>12,}")
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
