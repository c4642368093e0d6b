"""Rows of Spark: the records that a partition reads, and what it returns.

A partition returns one row per bad event, and one row with its summary.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from log_processing.events.event import KinesisRecord

if TYPE_CHECKING:
    from collections.abc import Iterator, Sequence

    import pyarrow as pa

    from log_processing.events.event import BadEvent

RECORDS = (
    "stream",
    "shardId",
    "sequenceNumber",
    "subSequenceNumber",
    "unix_millis(approximateArrivalTimestamp) AS arrivalMs",
    "data",
)
OUTCOMES = (
    "summary string, reason string, detail string, stream string, shardId string, "
    "sequenceNumber string, subSequenceNumber bigint, event int, arrivalMs bigint, data binary"
)


def records(batch: Any) -> Iterator[KinesisRecord]:
    """The records of an Arrow batch with the columns ``RECORDS``."""
    places = [batch.column(index).to_pylist() for index in range(5)]
    payloads = batch.column(5)
    for row, (stream, shard, sequence_number, sub, arrival) in enumerate(zip(*places)):
        # One payload at a time: all of a batch would be in memory twice.
        data = payloads[row].as_py()
        yield KinesisRecord(stream, shard, sequence_number, sub, arrival, data)


def bad_rows(events: Sequence[BadEvent]) -> pa.RecordBatch:
    """One row per bad event."""
    return _batch(
        [
            (
                None,
                bad.reason,
                bad.detail,
                bad.identity.stream,
                bad.identity.shard_id,
                bad.identity.sequence_number,
                bad.identity.sub_sequence_number,
                bad.identity.event,
                bad.identity.arrival_ms,
                bad.data,
            )
            for bad in events
        ]
    )


def summary_row(summary: str) -> pa.RecordBatch:
    """The row of a summary."""
    return _batch([(summary, *[None] * 9)])


def _batch(rows: Sequence[tuple[Any, ...]]) -> pa.RecordBatch:
    import pyarrow as pa  # noqa: PLC0415 slow to load, and only the executors need it

    text = pa.string()
    schema = pa.schema(
        [
            ("summary", text),
            ("reason", text),
            ("detail", text),
            ("stream", text),
            ("shardId", text),
            ("sequenceNumber", text),
            ("subSequenceNumber", pa.int64()),
            ("event", pa.int32()),
            ("arrivalMs", pa.int64()),
            ("data", pa.binary()),
        ]
    )
    columns = [pa.array(column, kind.type) for column, kind in zip(zip(*rows), schema)]
    return pa.RecordBatch.from_arrays(columns, schema=schema)
