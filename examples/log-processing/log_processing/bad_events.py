"""The folder of bad events: Parquet files, one folder per checkpoint and micro-batch."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from . import rows
from .startup_checks import StartupError

if TYPE_CHECKING:
    from pyspark.sql import DataFrame, SparkSession

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


def check_folder(spark: SparkSession, folder: str) -> None:
    """Try to write to the folder of bad events, which may be needed for the first time after weeks.

    It writes the bad events of a micro-batch that has none: a file without rows. Spark has no
    public way to write without a trace. The next start replaces the file.

    Args:
        spark: session of the job.
        folder: folder of all bad events.

    Raises:
        StartupError: if the folder cannot be written.
    """
    from py4j.protocol import Py4JJavaError  # noqa: PLC0415 only the driver has it
    from pyspark.errors import PySparkException  # noqa: PLC0415

    try:
        write_bad_events(spark.createDataFrame([], rows.OUTCOMES), folder, "check", 0)
    except (PySparkException, Py4JJavaError) as error:
        raise StartupError(
            f"Folder of bad events '{folder}' cannot be written. Check its name and the "
            f"permissions of the job. {_cause(error)}"
        ) from error


def _cause(error: Any) -> str:
    """The first cause of an error of Java, or the error itself."""
    cause = getattr(error, "java_exception", None)
    while cause is not None and cause.getCause() is not None:
        cause = cause.getCause()
    return str(error if cause is None else cause.toString())
