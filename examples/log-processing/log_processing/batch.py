"""What the driver does with a micro-batch: the function of ``foreachBatch``."""

from __future__ import annotations

import random
import time
from functools import partial
from typing import TYPE_CHECKING

from log_processing.delivery.clients import client
from log_processing.delivery.retry import Times
from log_processing.table.items import progress_item
from log_processing.table.keys import progress_keys
from log_processing.table.writer import TableWriter

from . import rows, summary
from .bad_events import write_bad_events
from .partition import process_partition
from .progress import LIFE_SECONDS, Latency, LatestError, Progress, ShardLag

if TYPE_CHECKING:
    from pyspark.sql import DataFrame

    from .settings import Settings

_QUERY_ID = "sql.streaming.queryId"


def process_batch(settings: Settings, records: DataFrame, batch: int) -> None:
    """Store and alert, keep the bad events, and record the progress.

    The records themselves do not pass the driver. If anything fails, the exception fails the query,
    and Spark repeats the same micro-batch after a restart.

    Args:
        settings: settings of the job.
        records: rows of the Kinesis source.
        batch: ID of the micro-batch.
    """
    work = partial(process_partition, settings)
    outcomes = records.selectExpr(*rows.RECORDS).mapInArrow(work, rows.OUTCOMES).persist()
    try:
        total = summary.Summary()
        for row in outcomes.where("summary IS NOT NULL").select("summary").collect():
            total.add(summary.from_json(row.summary))
        if total.bad:
            run = records.sparkSession.sparkContext.getLocalProperty(_QUERY_ID)
            write_bad_events(outcomes, settings.bad_events, str(run), batch)
    finally:
        outcomes.unpersist()
    _record(settings, progress(total, batch, time.time_ns() // 1_000_000))


def progress(total: summary.Summary, batch: int, now_ms: int) -> Progress:
    """The progress of a micro-batch from the summary of its partitions."""
    latency = Latency(total.percentile(0.5), total.percentile(0.99), total.percentile(1))
    return Progress(
        time=now_ms,
        batch=batch,
        records=total.records,
        events=total.events,
        bad=total.bad,
        errors=total.errors,
        seconds=[(*key, count) for key, count in sorted(total.seconds.items())],
        latency=latency if total.events else None,
        shards=[
            ShardLag(stream, shard, max(0, now_ms - arrival))
            for (stream, shard), arrival in sorted(total.newest.items())
        ],
        latestErrors=[LatestError(*error) for error in total.latest_errors],
    )


def _record(settings: Settings, done: Progress) -> None:
    dynamodb = client("dynamodb", settings.region, settings.dynamodb_endpoint)
    times = Times(now=time.monotonic, sleep=time.sleep, chance=random.random)
    writer = TableWriter(dynamodb, settings.table, settings.write_timeout, times)
    keys = progress_keys(settings.name, done.batch)
    expires = done.time // 1000 + LIFE_SECONDS
    writer.store([progress_item(keys, done.to_json(), expires)])
