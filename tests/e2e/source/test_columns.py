"""The columns of the source."""

from __future__ import annotations

from typing import TYPE_CHECKING

import pytest

from spark_kinesis import columns, schema
from tests.e2e.support.harness import collected, running
from tests.e2e.support.streams import KEYS, Stream, wait_for

if TYPE_CHECKING:
    from pathlib import Path

    from pyspark.sql import DataFrame, Row, SparkSession

    from tests.e2e.support.verdict import Collected


def test_a_row_has_the_documented_columns(
    spark: SparkSession, stream: Stream, checkpoint: Path
) -> None:
    stream.put(3)
    frame = stream.source().read_stream(spark)
    assert frame.schema == schema
    seen: list[Collected] = []
    wide: list[tuple[str, str]] = []

    def keep(batch_frame: DataFrame, batch: int) -> None:
        seen.extend(collected(row, batch) for row in batch_frame.collect())
        chosen = batch_frame.select("stream", "partitionKey", "approximateArrivalTimestamp")
        wide.extend((row[0], row[1]) for row in chosen.collect() if row[2] is not None)

    with running(spark, stream.source(), checkpoint, keep):
        wait_for("three rows", lambda: len(wide) >= 3)
    assert {name for name, _ in wide} == {stream.name}
    assert {key for _, key in wide} == {row.key for row in seen}


def rows_of(stream: Stream, frame: DataFrame, checkpoint: Path) -> list[Row]:
    """The rows of a query on a stream with one record for each of three keys."""
    stream.put(3)
    seen: list[Row] = []

    def keep(batch_frame: DataFrame, _: int) -> None:
        seen.extend(batch_frame.collect())

    writer = frame.writeStream.foreachBatch(keep)
    query = writer.option("checkpointLocation", str(checkpoint)).start()
    try:
        wait_for("three rows", lambda: len(seen) >= 3)
    finally:
        query.stop()
    assert {row["partitionKey"] for row in seen} == {written.key for written in stream.written}
    return seen


@pytest.mark.spark4
def test_metadata_columns_appear_if_selected(
    spark: SparkSession, stream: Stream, checkpoint: Path
) -> None:
    frame = stream.source().read_stream(spark)
    assert not {"explicitHashKey", "encryptionType"} & set(frame.columns)
    chosen = frame.select("encryptionType", "partitionKey", "explicitHashKey", "subSequenceNumber")
    rows = rows_of(stream, chosen, checkpoint)
    # The records are not encrypted, which the service may omit, and have no explicit hash keys.
    assert {row["encryptionType"] for row in rows} <= {"NONE", None}
    assert {row["explicitHashKey"] for row in rows} == {None}
    assert {row["subSequenceNumber"] for row in rows} == {0}


@pytest.mark.spark4
@pytest.mark.parametrize("kinesis", ["kinesis_local"], indirect=True)
def test_encrypted_records_have_their_encryption_type(
    spark: SparkSession, stream: Stream, checkpoint: Path
) -> None:
    stream.client.start_stream_encryption(
        StreamName=stream.name, EncryptionType="KMS", KeyId="alias/aws/kinesis"
    )
    stream.wait_active()
    chosen = stream.source().read_stream(spark).select("partitionKey", "encryptionType")
    rows = rows_of(stream, chosen, checkpoint)
    assert {row["encryptionType"] for row in rows} == {"KMS"}


@pytest.mark.parametrize("kinesis", ["simulator"], indirect=True)
def test_changes_of_a_key_sort_across_aggregates_and_reshards(
    spark: SparkSession, stream: Stream
) -> None:
    key = KEYS[0]
    written: list[str] = []
    for change in (None, stream.split, stream.merge, stream.split):
        if change:
            change()
        rows = [(key, f"{n:04}") for n in range(len(written), len(written) + 25)]
        frame = spark.createDataFrame(rows, "partitionKey string, data string").coalesce(1)
        stream.sink(aggregation="kpl", ordering="per_key", max_aggregate_records=10).write(frame)
        stream.put_raw(f"{len(written) + 25:04}".encode(), key)
        written += [data for _, data in rows] + [f"{len(written) + 25:04}"]
    frame = stream.source().read(spark).selectExpr("string(data)", columns.CHANGE_ORDER)
    found = [row[0] for row in sorted(frame.collect(), key=lambda row: row[1])]
    assert found == written


def test_a_longer_sequence_number_sorts_later(spark: SparkSession) -> None:
    rows = [("9", 0), ("9", 1), ("9", 10), ("10", 0), ("10", 2), ("49" * 28, 0), ("1" * 129, 0)]
    frame = spark.createDataFrame(rows, "sequenceNumber string, subSequenceNumber long")
    orders = [row[0] for row in frame.selectExpr(columns.CHANGE_ORDER).collect()]
    assert orders == sorted(set(orders))
