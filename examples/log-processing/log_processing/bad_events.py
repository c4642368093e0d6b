"""The folder of bad events: Parquet files, one folder per checkpoint and micro-batch."""

from __future__ import annotations

from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from pyspark.sql import DataFrame

COLUMNS = (
    "reason",
    "detail",
    "stream",
    "shardId",
    "sequenceNumber",
    "subSequenceNumber",
    "event",
    "timestamp_millis(arrivalMs) AS arrival",
    "data",
)


def write_bad_events(outcomes: DataFrame, folder: str, run: str, batch: int) -> None:
    """Write the bad events of a micro-batch.

    A repeated batch has the same records. It replaces the files, so each bad event is there once.

    Args:
        outcomes: rows with the columns ``rows.OUTCOMES``.
        folder: folder of all bad events.
        run: ID of the query, which stays the same as long as its checkpoint.
        batch: ID of the micro-batch.
    """
    bad = outcomes.where("summary IS NULL").selectExpr(*COLUMNS)
    bad.coalesce(1).write.mode("overwrite").parquet(f"{folder}/run={run}/batch={batch}")
