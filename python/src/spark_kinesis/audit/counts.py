"""What a stream says about the exactly-once queries that wrote to it."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from pyspark.sql import DataFrame, SparkSession

    from spark_kinesis import KinesisSource

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


@dataclass(frozen=True)
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
