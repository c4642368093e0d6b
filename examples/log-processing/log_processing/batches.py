"""What the tasks and the driver do with a micro-batch of each query.

A task parses its records, sends what they contain, and returns a row per bad event and a row with
its counts. The driver keeps the bad events, and reports the counts. Records do not pass it.
"""

from __future__ import annotations

import logging
import threading
from functools import partial
from typing import TYPE_CHECKING, Any

from . import events
from .alerts import MAX_ENTRIES, Alert, alert_of, publish
from .alerts import MAX_REQUEST_BYTES as MAX_ALERT_BYTES
from .events import BadEvent, Event, Record
from .progress import Counts, age_ms, counts_of, print_metrics, save_progress
from .sending import Delivery, Refused, chunks, client, in_parallel
from .table import MAX_ITEM_BYTES, MAX_ITEMS, MAX_REQUEST_BYTES, Item, item_of, now_ms, store

if TYPE_CHECKING:
    from collections.abc import Iterable, Iterator, Sequence

    from pyspark.sql import DataFrame

    from .settings import Settings

RECORDS = (
    "stream",
    "shardId",
    "sequenceNumber",
    "subSequenceNumber",
    "unix_millis(approximateArrivalTimestamp) AS arrivalMs",
    "data",
)
OUTCOMES = (
    "counts string, reason string, detail string, stream string, shardId string, "
    "sequenceNumber string, subSequenceNumber bigint, event int, arrivalMs bigint, data binary"
)
BAD = (
    *("reason", "detail", "stream", "shardId", "sequenceNumber", "subSequenceNumber", "event"),
    *("timestamp_millis(arrivalMs) AS arrival", "data"),
)
REQUESTS_IN_FLIGHT, ALERTS_IN_FLIGHT = 8, 2
_MAX_BAD_ROWS = 1000
_LOG = logging.getLogger(__name__)


def store_events(
    settings: Settings, records: Iterable[Record], counts: Counts
) -> Iterator[BadEvent]:
    """Store the events of a task's records. Yields those that cannot be stored."""
    failed = threading.Event()
    delivery = Delivery(f"table '{settings.table}'", settings.write_timeout, failed)
    dynamodb = partial(client, "dynamodb", settings.region, settings.dynamodb_endpoint)
    send = partial(store, table=settings.table, dynamodb=dynamodb, delivery=delivery)
    bad: list[BadEvent] = []
    items = _items(settings, records, bad)
    requests = chunks(items, MAX_ITEMS, MAX_REQUEST_BYTES, lambda it: it.size)
    for stored in in_parallel(send, requests, REQUESTS_IN_FLIGHT, failed):
        for item in stored.items:
            counts.count_stored(item.event, stored.at_ms)
        bad += [_bad(events.REFUSED, it.reason, it.entry.event) for it in stored.refused]
        yield from bad
        bad.clear()
    yield from bad


def _items(settings: Settings, records: Iterable[Record], bad: list[BadEvent]) -> Iterator[Item]:
    for record in records:
        for event in events.read(record):
            if isinstance(event, BadEvent):
                bad.append(event)
                continue
            problem = events.why_not_stored(event, settings.retention_days)
            item = item_of(event, settings.retention_days)
            if problem is None and item.size > MAX_ITEM_BYTES:
                problem = (events.TOO_LARGE, f"{item.size} bytes as an item of DynamoDB")
            if problem is None:
                yield item
            else:
                bad.append(_bad(*problem, event))


def publish_alerts(
    settings: Settings, records: Iterable[Record], counts: Counts
) -> Iterator[BadEvent]:
    """Publish the severe events of a task's records. Yields those that EventBridge refuses.

    An event that cannot be stored raises its alert, too. The other query keeps it.
    """
    failed = threading.Event()
    delivery = Delivery(f"bus '{settings.bus}'", settings.write_timeout, failed)
    bus = partial(client, "events", settings.region, settings.events_endpoint)
    found = (event for record in records for event in events.read(record))
    alerts = (alert_of(it) for it in found if isinstance(it, Event) and it.is_severe)
    requests = chunks(alerts, MAX_ENTRIES, MAX_ALERT_BYTES, lambda it: it.size)

    def send(request: Sequence[Alert]) -> tuple[int, Sequence[Refused[Alert]]]:
        return len(request), publish(request, settings.bus, bus, delivery)

    for sent, refused in in_parallel(send, requests, ALERTS_IN_FLIGHT, failed):
        counts.done += sent - len(refused)
        yield from (_bad(events.ALERT_REFUSED, it.reason, it.entry.event) for it in refused)


def _bad(reason: str, detail: str, event: Event) -> BadEvent:
    return BadEvent(reason, detail, event.record, event.index, event.data)


QUERIES = {"store": store_events, "alerts": publish_alerts}


def run_batch(query: str, settings: Settings, records: DataFrame, batch: int) -> None:
    """The function of ``foreachBatch``. If it fails, a restart repeats the micro-batch."""
    context = records.sparkSession.sparkContext
    checkpoint = str(context.getLocalProperty("sql.streaming.queryId"))
    task = partial(run_task, query, settings)
    outcomes = records.selectExpr(*RECORDS).mapInArrow(task, OUTCOMES).persist()
    total = Counts()
    try:
        for row in outcomes.where("counts IS NOT NULL").select("counts").collect():
            total.add(counts_of(row.counts))
        if total.bad:
            keep_bad(outcomes, f"{settings.bad_events}/run={checkpoint}/batch={batch}")
    finally:
        outcomes.unpersist()
    age = age_ms(total, now_ms())
    read = {"Records": total.records, "Bytes": total.bytes, "AgeMs": age}
    print_metrics(f"{settings.name}-{query}", **read, Done=total.done, Bad=total.bad)
    if query == "store":
        save_progress(settings, checkpoint, batch, total)


def keep_bad(outcomes: DataFrame, folder: str) -> None:
    """Write the bad events of a micro-batch as Parquet, in the place of those of an earlier run."""
    bad = outcomes.where("counts IS NULL").selectExpr(*BAD)
    bad.coalesce(1).write.mode("overwrite").parquet(folder)
    _LOG.warning("Bad events are kept in %s", folder)


def run_task(query: str, settings: Settings, arrow: Iterator[Any]) -> Iterator[Any]:
    """The function of ``mapInArrow``: from rows of ``RECORDS`` to rows of ``OUTCOMES``.

    Raises:
        NotDeliveredError: if a service did not accept all requests. Spark then repeats the task.
    """
    counts = Counts()
    rows: list[tuple[Any, ...]] = []
    for bad in QUERIES[query](settings, _records(arrow, counts), counts):
        counts.bad += 1
        record = bad.record
        place = (record.stream, record.shard_id, record.sequence_number, record.sub_sequence_number)
        rows.append((None, bad.reason, bad.detail, *place, bad.index, record.arrival_ms, bad.data))
        if len(rows) == _MAX_BAD_ROWS:
            yield _batch(rows)
            rows = []
    yield _batch([*rows, (counts.to_json(), *[None] * 9)])


def _records(arrow: Iterator[Any], counts: Counts) -> Iterator[Record]:
    for batch in arrow:
        for row in range(batch.num_rows):  # all payloads of a batch would be in memory twice
            record = Record(*(column[row].as_py() for column in batch.columns))
            counts.count_record(record)
            yield record


def _batch(rows: Sequence[tuple[Any, ...]]) -> Any:
    import pyarrow as pa  # noqa: PLC0415 slow to load, and only tasks need it

    kinds = {"string": pa.string(), "bigint": pa.int64(), "int": pa.int32(), "binary": pa.binary()}
    columns = [column.split() for column in OUTCOMES.split(", ")]
    schema = pa.schema([(name, kinds[kind]) for name, kind in columns])
    values = zip(*rows, strict=True)
    arrays = [pa.array(it, one.type) for it, one in zip(values, schema, strict=True)]
    return pa.RecordBatch.from_arrays(arrays, schema=schema)
