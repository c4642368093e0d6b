"""The job: ``spark-submit log_processing/job.py ...`` or ``python -m log_processing.job ...``.

It runs until ``SIGTERM``, or with ``--once`` until it has processed what has arrived. If a
micro-batch fails, the program ends with an exit code other than 0. Start it again: it repeats the
micro-batch.
"""

from __future__ import annotations

import sys
import tempfile
import zipfile
from datetime import timedelta
from functools import partial
from pathlib import Path
from typing import TYPE_CHECKING

if not __package__:  # spark-submit adds the folder of this file to the path, not the one above it
    sys.path.insert(0, str(Path(__file__).resolve().parents[1]))

from pyspark.sql import SparkSession

import log_processing
from log_processing.bad_events import check_folder
from log_processing.batch import process_batch
from log_processing.delivery.clients import is_local
from log_processing.delivery.clock import SYSTEM_CLOCK
from log_processing.settings import Settings, read_settings
from log_processing.startup_checks import StartupError, wait_until_ready
from spark_kinesis import (
    AtTimestamp,
    EnhancedFanOut,
    KinesisSource,
    Latest,
    StaticCredentials,
    TrimHorizon,
    stop_on_sigterm,
    with_kinesis,
)

if TYPE_CHECKING:
    from collections.abc import Sequence

    from pyspark.sql.streaming.query import StreamingQuery

POSITIONS: dict[str, Latest | TrimHorizon] = {"latest": Latest(), "trim_horizon": TrimHorizon()}
ARROW_RECORDS = 200  # of at most 1 MB, or 10 MB in a stream with large records


def source(settings: Settings, tasks: int) -> KinesisSource:
    """The source of the records.

    Args:
        settings: settings of the job.
        tasks: number of tasks that can run at a time. Events need no order, so that several tasks
            may share a shard.
    """
    start = settings.start_time
    keys = StaticCredentials(access_key_id="local", secret_access_key="local")  # noqa: S106
    return KinesisSource(
        stream_name=settings.stream_names,
        region=settings.region or ("us-east-1" if is_local(settings.kinesis_endpoint) else None),
        endpoint=settings.kinesis_endpoint,
        credentials=keys if is_local(settings.kinesis_endpoint) else None,
        starting_position=AtTimestamp(start) if start else POSITIONS[settings.starting_position],
        consumer=EnhancedFanOut(name=settings.consumer) if settings.consumer else None,
        max_bytes_per_trigger=settings.max_bytes_per_batch,
        min_partitions=tasks,
    )


def start(spark: SparkSession, settings: Settings) -> StreamingQuery:
    """Start the query."""
    # A batch of Arrow is in memory at once.
    spark.conf.set("spark.sql.execution.arrow.maxRecordsPerBatch", str(ARROW_RECORDS))
    records = source(settings, spark.sparkContext.defaultParallelism).read_stream(spark)
    writer = (
        records.writeStream.queryName(settings.name)
        .option("checkpointLocation", settings.checkpoint)
        .foreachBatch(partial(process_batch, settings))
    )
    if settings.once:
        return writer.trigger(availableNow=True).start()
    return writer.trigger(
        processingTime=f"{settings.trigger_seconds * 1000:.0f} milliseconds"
    ).start()


def ship_package(spark: SparkSession) -> None:
    """Give the package to the executors. In a zip file of ``--py-files``, they have it already."""
    package = Path(log_processing.__file__).parent
    if not package.is_dir():
        return
    archive = Path(tempfile.mkdtemp()) / "log_processing.zip"
    with zipfile.ZipFile(archive, "w") as opened:
        for file in package.rglob("*.py"):
            opened.write(file, file.relative_to(package.parent))
    spark.sparkContext.addPyFile(str(archive))


def run(settings: Settings) -> None:
    """Run the query until its planned end.

    Raises:
        StartupError: if something is missing at the start.
    """
    wait_until_ready(settings, SYSTEM_CLOCK)
    spark = with_kinesis(SparkSession.builder.appName(settings.name)).getOrCreate()
    ship_package(spark)
    stop_on_sigterm(spark, timeout=timedelta(seconds=settings.stop_timeout))
    try:
        check_folder(spark, settings.bad_events)
        start(spark, settings).awaitTermination()
    finally:
        spark.stop()


def main(arguments: Sequence[str] | None = None) -> int:
    """Run the job. Returns 0 after a planned end, and 1 if something is missing at the start."""
    settings = read_settings(sys.argv[1:] if arguments is None else arguments)
    try:
        run(settings)
    except StartupError as error:
        print(f"log_processing: {error}", file=sys.stderr)
        return 1
    return 0


if __name__ == "__main__":
    sys.exit(main())
