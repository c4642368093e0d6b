"""What the driver does with a micro-batch: the function of ``foreachBatch``."""

from __future__ import annotations

import heapq
import logging
from functools import partial
from typing import TYPE_CHECKING

from log_processing.delivery.clients import client
from log_processing.delivery.clock import SYSTEM_CLOCK, now_ms
from log_processing.delivery.retry import NotDeliveredError
from log_processing.table.items import progress_item
from log_processing.table.keys import progress_keys
from log_processing.table.writer import TableWriter

from . import rows, summary
from .bad_events import write_bad_events
from .partition import process_partition
from .progress import LIFE_SECONDS, MOST_SHARDS, Latency, LatestError, Progress, ShardLag

if TYPE_CHECKING:
    from pyspark import SparkContext
    from pyspark.sql import DataFrame

    from .settings import Settings

_LOG = logging.getLogger(__name__)
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
    query = query_id(records.sparkSession.sparkContext)
    outcomes = records.selectExpr(*rows.RECORDS).mapInArrow(work, rows.OUTCOMES).persist()
    try:
        total = summary.Summary()
        for row in outcomes.where("summary IS NOT NULL").select("summary").collect():
            total.add(summary.from_json(row.summary))
        if total.bad:
            write_bad_events(outcomes, settings.bad_events, query, batch)
    finally:
        outcomes.unpersist()
    record(settings, progress(total, query, batch, now_ms()))


def query_id(context: SparkContext) -> str:
    """The ID of the query whose micro-batch this thread processes.

    Raises:
        RuntimeError: if Spark has not set it. Without it, the batches of two queries would
            replace each other's bad events.
    """
    query = context.getLocalProperty(_QUERY_ID)
    if query is None:
        raise RuntimeError(
            f"Spark's local property '{_QUERY_ID}' is not set. "
            "Use process_batch only as the function of foreachBatch."
        )
    return str(query)


def progress(total: summary.Summary, query: str, batch: int, end_ms: int) -> Progress:
    """The progress of a micro-batch from the summary of its partitions.

    Args:
        total: sum of the summaries.
        query: ID of the query.
        batch: ID of the micro-batch.
        end_ms: end of the micro-batch, in milliseconds since 1970.
    """
    lags = (
        ShardLag(stream, shard, max(0, end_ms - arrival))
        for (stream, shard), arrival in sorted(total.newest.items())
    )
    latency = Latency(total.percentile(0.5), total.percentile(0.99), total.percentile(1))
    return Progress(
        time=end_ms,
        query=query,
        batch=batch,
        records=total.records,
        events=total.events,
        bad=total.bad,
        errors=total.errors,
        seconds=[(*key, count) for key, count in sorted(total.seconds.items())],
        latency=latency if total.events else None,
        shards=heapq.nlargest(MOST_SHARDS, lags, key=lambda it: it.behindMs),
        shardCount=len(total.newest),
        latestErrors=[LatestError(*error) for error in total.latest_errors],
    )


def record(settings: Settings, done: Progress) -> None:
    """Store the progress for the dashboard. The batch is done, whether this succeeds or not."""
    dynamodb = client("dynamodb", settings.region, settings.dynamodb_endpoint)
    writer = TableWriter(dynamodb, settings.table, settings.write_timeout, SYSTEM_CLOCK)
    keys = progress_keys(settings.name, done.time, done.query, done.batch)
    expires = done.time // 1000 + LIFE_SECONDS
    try:
        refused = writer.store([progress_item(keys, done.to_json(), expires)]).refused
    except NotDeliveredError as error:
        _LOG.warning("The dashboard lacks micro-batch %d. %s", done.batch, error)
    else:
        for refusal in refused:
            _LOG.warning("The dashboard lacks micro-batch %d. %s", done.batch, refusal.reason)
