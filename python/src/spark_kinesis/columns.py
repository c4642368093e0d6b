"""Constants for the column names of the source and the sink.

With a constant, a misspelled name raises a Python error.

The first seven columns are the columns of ``spark_kinesis.schema``, which is the schema of the
source's DataFrames. ``batchId`` is a column of ``KinesisSource.replay`` only. The last four columns
are metadata columns of the source: Spark returns a metadata column only if a query selects it by
name. The sink reads ``data``, ``partitionKey``,
``explicitHashKey``, ``stream`` and ``streamArn``.

``CHANGE_ORDER`` is not a column, but an expression of SQL over the columns of the source: one
string per row. Of two rows of the same stream and partition key, written without explicit hash
keys, the later one has the string that sorts later. Use it as
``pyspark.sql.functions.expr(columns.CHANGE_ORDER)``.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from pyspark.sql.types import StructType

PARTITION_KEY = "partitionKey"
DATA = "data"
STREAM = "stream"
SHARD_ID = "shardId"
SEQUENCE_NUMBER = "sequenceNumber"
SUB_SEQUENCE_NUMBER = "subSequenceNumber"
APPROXIMATE_ARRIVAL_TIMESTAMP = "approximateArrivalTimestamp"

BATCH_ID = "batchId"

EXPLICIT_HASH_KEY = "explicitHashKey"
ENCRYPTION_TYPE = "encryptionType"
STREAM_ARN = "streamArn"
WRITER_ID = "writerId"

# The length comes first, because a longer number is a greater one.
CHANGE_ORDER = (
    "concat_ws('-', lpad(length(sequenceNumber), 3, '0'), sequenceNumber, "
    "lpad(subSequenceNumber, 10, '0'))"
)


def _schema() -> StructType:
    """Build the schema of the source's rows. This needs pyspark, but no session and no JVM."""
    from pyspark.sql import types  # noqa: PLC0415 a program without Spark imports this module too

    text = types.StringType()
    return (
        types.StructType()
        .add(PARTITION_KEY, text)  # null for a stream whose records Kinesis distributes itself
        .add(DATA, types.BinaryType(), nullable=False)
        .add(STREAM, text, nullable=False)
        .add(SHARD_ID, text, nullable=False)
        .add(SEQUENCE_NUMBER, text, nullable=False)
        .add(SUB_SEQUENCE_NUMBER, types.LongType(), nullable=False)
        .add(APPROXIMATE_ARRIVAL_TIMESTAMP, types.TimestampType(), nullable=False)
    )
