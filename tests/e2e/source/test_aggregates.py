"""Aggregates of the Kinesis Producer Library, beside plain and broken records."""

from __future__ import annotations

import base64
import json
from pathlib import Path
from typing import TYPE_CHECKING, Any

import pytest

from tests.e2e.support.streams import Stream, wait_for

if TYPE_CHECKING:
    from pyspark.sql import DataFrame, SparkSession

KPL = Path(__file__).resolve().parents[2] / "golden" / "kpl"
INSIDE: dict[str, list[dict[str, str | None]]] = json.loads((KPL / "records.json").read_bytes())
OUTER_KEY = "a"

pytestmark = pytest.mark.parametrize("kinesis", ["simulator"], indirect=True)

# Data, sub-sequence number, partition key, explicit hash key.
Seen = tuple[bytes, int, str, "str | None"]


def aggregate(case: str) -> bytes:
    return (KPL / f"{case}.bin").read_bytes()


def rows_inside(case: str) -> list[Seen]:
    return [
        (base64.b64decode(it["data"] or ""), n, it["partitionKey"] or "", it["explicitHashKey"])
        for n, it in enumerate(INSIDE[case])
    ]


def row_of(data: bytes) -> list[Seen]:
    return [(data, 0, OUTER_KEY, None)]


def broken() -> list[bytes]:
    good = aggregate("keys")
    return [good[:-1], good[:30], good[:4], good[:-1] + bytes([good[-1] ^ 1]), good + b"\0"]


def read(
    spark: SparkSession, stream: Stream, checkpoint: Path, expected: int, **options: Any
) -> list[Seen]:
    """All rows, in order of their unique key."""
    columns = ["data", "subSequenceNumber", "partitionKey", "explicitHashKey", "sequenceNumber"]
    frame = stream.source(**options).read_stream(spark).select(*columns, "stream", "shardId")
    batches: dict[int, list[Any]] = {}

    def keep(batch_frame: DataFrame, batch: int) -> None:
        batches[batch] = batch_frame.collect()

    def rows() -> list[Any]:
        return [row for batch in list(batches.values()) for row in batch]

    writer = frame.writeStream.foreachBatch(keep)
    query = writer.option("checkpointLocation", str(checkpoint)).start()
    try:
        wait_for(f"{expected} rows", lambda: len(rows()) >= expected)
    finally:
        query.stop()
    assert len({(row["shardId"], row["sequenceNumber"], row[1]) for row in rows()}) == len(rows())
    ordered = sorted(rows(), key=lambda row: (int(row["sequenceNumber"]), row[1]))
    return [(bytes(row[0]), row[1], row[2], row[3]) for row in ordered]


@pytest.mark.spark4
def test_each_record_of_an_aggregate_is_a_row(
    spark: SparkSession, stream: Stream, checkpoint: Path
) -> None:
    expected = []
    for case in INSIDE:
        stream.put_raw(b"plain", OUTER_KEY)
        stream.put_raw(aggregate(case), OUTER_KEY)
        expected += row_of(b"plain") + rows_inside(case)
    for data in broken():
        stream.put_raw(data, OUTER_KEY)
        expected += row_of(data)
    # Limits count Kinesis records, so an aggregate is never cut.
    found = read(spark, stream, checkpoint, len(expected), max_records_per_trigger=2)
    assert found == expected


@pytest.mark.spark4
def test_aggregates_are_not_unpacked_without_deaggregate(
    spark: SparkSession, stream: Stream, checkpoint: Path
) -> None:
    put = [aggregate("hash-keys"), b"plain", *broken()]
    for data in put:
        stream.put_raw(data, OUTER_KEY)
    found = read(spark, stream, checkpoint, len(put), deaggregate=False)
    assert found == [row for data in put for row in row_of(data)]
