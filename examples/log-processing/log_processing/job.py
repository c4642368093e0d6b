"""The job: ``python -m log_processing.job ...`` in the folder above, or ``spark-submit``.

``spark-submit`` needs the package, too: ``--py-files log_processing.zip log_processing/job.py``.

Two queries read the stream, each with a checkpoint of its own. One stores all events, the other
publishes alerts. If one fails, it starts again, and the other one continues.

The job runs until ``SIGTERM``, or with ``--once`` until it has processed what has arrived.
"""

from __future__ import annotations

import logging
import sys
import time
from collections import Counter
from datetime import timedelta
from functools import partial
from typing import TYPE_CHECKING, Any

from pyspark.sql import SparkSession

from log_processing.batches import QUERIES, run_batch
from log_processing.progress import print_metrics
from log_processing.sending import is_local
from log_processing.settings import Settings, read_settings
from spark_kinesis import (
    KinesisSource,
    StaticCredentials,
    stop_on_sigterm,
    with_kinesis,
)

if TYPE_CHECKING:
    from collections.abc import Callable, Mapping, Sequence

    from pyspark import SparkContext
    from pyspark.sql.streaming.query import StreamingQuery

ARROW_RECORDS = "200"  # of at most 10 MB, in memory at once
PAUSE_SECONDS = 10.0  # until a query that failed starts again
MOST_STARTS = 10  # that fail in a row
HEARTBEAT_SECONDS = 10.0
# Kinesis allows five calls per second and shard. The alerts take one of them.
ALERT_PERIOD, STORE_PERIOD = timedelta(seconds=1), timedelta(milliseconds=250)
_LOG = logging.getLogger(__name__)


def main(arguments: Sequence[str] | None = None) -> None:
    """Run the job until its planned end."""
    settings = read_settings(sys.argv[1:] if arguments is None else arguments)
    spark = with_kinesis(SparkSession.builder.appName(settings.name)).getOrCreate()
    stop_on_sigterm(spark, timeout=timedelta(seconds=settings.stop_timeout))
    try:
        run(spark, settings)
    finally:
        spark.stop()


def run(spark: SparkSession, settings: Settings) -> None:
    """Run both queries until their planned end.

    Raises:
        StreamingQueryException: with ``--once``, if one of them failed.
    """
    spark.conf.set("spark.sql.execution.arrow.maxRecordsPerBatch", ARROW_RECORDS)
    starts = {name: partial(start, spark, settings, name) for name in QUERIES}
    if not settings.once:
        context = spark.sparkContext
        keep_running(starts, Heartbeats(settings.name).beat, lambda: is_stopped(context))
        return
    queries = [begin() for begin in starts.values()]
    while any(query.isActive for query in queries):
        time.sleep(0.1)
    for query in queries:
        query.awaitTermination()


def is_stopped(context: SparkContext) -> bool:
    """Whether Spark has stopped, for example after an error. Fails if Java has ended."""
    return bool(context._jsc.sc().isStopped())  # noqa: SLF001 there is no public way


def start(spark: SparkSession, settings: Settings, query: str) -> StreamingQuery:
    """Start a query: ``store`` or ``alerts``."""
    records = source(settings, query, spark.sparkContext.defaultParallelism).read_stream(spark)
    seconds = settings.trigger_seconds
    if query == "alerts":
        seconds = max(seconds, ALERT_PERIOD.total_seconds())
    trigger: dict[str, Any] = {"processingTime": f"{1000 * seconds:.0f} milliseconds"}
    return (
        records.writeStream.queryName(f"{settings.name}-{query}")
        .option("checkpointLocation", f"{settings.checkpoint}/{query}")
        .foreachBatch(partial(run_batch, query, settings))
        .trigger(**({"availableNow": True} if settings.once else trigger))
        .start()
    )


def source(settings: Settings, query: str, slots: int) -> KinesisSource:
    """The source of a query.

    A quarter of the slots is for alerts, the others are for storing. Otherwise, tasks that wait for
    one service in an outage would take the slots of both queries.

    Raises:
        ValueError: if there is one slot only.
    """
    if slots < len(QUERIES):
        raise ValueError("The job needs two task slots, and Spark has one. Use --master local[2].")
    of_alerts = max(1, slots // 4)
    tasks = of_alerts if query == "alerts" else slots - of_alerts
    keys = StaticCredentials(access_key_id="local", secret_access_key="local")  # noqa: S106
    local = is_local(settings.kinesis_endpoint)
    return KinesisSource(
        stream_name=settings.stream,
        region=settings.region or ("us-east-1" if local else None),
        endpoint=settings.kinesis_endpoint,
        credentials=keys if local else None,
        starting_position="trim_horizon",
        max_bytes_per_trigger=settings.max_mb_per_batch * 1_000_000,
        min_partitions=tasks,
        max_partitions=tasks,
        min_fetch_period=ALERT_PERIOD if query == "alerts" else STORE_PERIOD,
    )


def keep_running(
    starts: Mapping[str, Callable[[], StreamingQuery]],
    beat: Callable[[str, StreamingQuery], None],
    is_over: Callable[[], bool],
    pause: float = PAUSE_SECONDS,
) -> None:
    """Start queries, and start those again that failed, until one of them ends as planned.

    Args:
        starts: by name, what starts each query.
        beat: is called again and again for each query that runs.
        is_over: whether no query can start any more. It may raise an error instead.
        pause: seconds until a query that failed starts again.

    Raises:
        Exception: what a start raises, if no query can start any more, or ten times in a row. Then
            a new driver has to help.
    """
    running = {name: start() for name, start in starts.items()}
    due: dict[str, float] = {}
    failures: Counter[str] = Counter()
    ending = False
    while running or (due and not ending):
        for name, query in list(running.items()):
            if query.isActive:
                beat(name, query)
                continue
            del running[name]
            if query.exception() is None:
                ending = True  # SIGTERM, which ends the other queries, too
            else:
                _LOG.error("Query '%s' starts again in %g s. %s", name, pause, query.exception())
                due[name] = time.monotonic() + pause
        for name in [it for it, at in due.items() if at <= time.monotonic() and not ending]:
            try:
                running[name] = starts[name]()
            except Exception:  # noqa: PERF203 whatever it is, the other query continues
                failures[name] += 1
                if is_over() or failures[name] == MOST_STARTS:
                    raise
                _LOG.exception("Query '%s' did not start. It is tried again.", name)
                due[name] = time.monotonic() + pause
            else:
                del due[name], failures[name]
        time.sleep(min(pause, 0.5))


class Heartbeats:
    """Prints the metric ``Heartbeat`` of a query that makes progress or has nothing to do."""

    def __init__(self, job: str, seconds: float = HEARTBEAT_SECONDS) -> None:
        """Print nothing yet."""
        self._job, self._seconds = job, seconds
        self._last: dict[str, tuple[float, Any]] = {}

    def beat(self, name: str, query: StreamingQuery) -> None:
        """Print the metric, if it is time and there is progress since the last time."""
        at, seen = self._last.get(name, (0.0, None))
        if time.monotonic() - at < self._seconds:
            return
        progress = query.lastProgress
        if progress is None or progress["timestamp"] == seen:
            return
        self._last[name] = time.monotonic(), progress["timestamp"]
        behind = progress["sources"][0]["metrics"].get("maxProcessingLagMs", 0)
        print_metrics(f"{self._job}-{name}", Heartbeat=1, AgeMs=int(behind))


if __name__ == "__main__":
    main()
