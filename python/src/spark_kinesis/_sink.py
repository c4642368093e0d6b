"""The sink: a stream to write to."""

from __future__ import annotations

import os
from dataclasses import dataclass
from datetime import timedelta
from typing import TYPE_CHECKING, Literal

from ._options.access import StreamAccess, require_at_most_one, require_stream
from ._options.mapping import SparkOptions
from ._options.values import ABSENT, duration, present, require, require_word, text
from ._session.missing import FORMAT, explain_missing_jar, require_connector

if TYPE_CHECKING:
    from collections.abc import Mapping

    from pyspark.sql import DataFrame
    from pyspark.sql.streaming.readwriter import DataStreamWriter

Aggregation = Literal["none", "kpl"]
Ordering = Literal["none", "per_key"]
DeadLetterFormat = Literal["json", "parquet"]

_SEVERAL = "add a column 'stream' to write each row to a stream of its own"


@dataclass(frozen=True, kw_only=True, slots=True, repr=False)
class KinesisSink(StreamAccess):
    """A stream to write to. For each field that is ``None`` the connector has a default.

    Rows need a column ``data`` (binary or string). Without a column ``partitionKey`` (string), each
    record gets a random key. A row with a null key is a bad row.

    Attributes:
        stream_name: name of the stream. Set this, or stream_arn, or neither if the rows have a
            column ``stream`` or ``streamArn`` that names the stream of each row.
        stream_arn: ARN of the stream.
        region: AWS region; default: from the default chain of the AWS SDK.
        endpoint: URL of the service, such as that of a local Kinesis; default: that of the region.
        credentials: default: from the default chain of the AWS SDK.
        role: role to assume with the credentials; default: none.
        delivery_timeout: maximum time to retry a record, from its first request, before the task
            fails; default 5 min.
        max_in_flight_requests: maximum number of unanswered requests per task, up to 256; default
            16.
        max_buffered_bytes: maximum number of bytes per task of rows that are not acknowledged:
            data, key, and 128 bytes for each row; default 64 MiB.
        linger: maximum time that a record waits for others in its request, up to 1 min; default
            100 ms.
        aggregation: ``"kpl"`` writes many rows per Kinesis record, in the format of the Kinesis
            Producer Library; default ``"none"``.
        max_aggregate_bytes: maximum size of such a record, from 1 KiB to 1 MiB; default 50 KiB.
        max_aggregate_records: maximum number of rows per such record; default 10000.
        ordering: ``"per_key"`` writes the rows of a partition key in order, which costs a shuffle;
            default ``"none"``.
        order_by: column that defines this order within a micro-batch. It is not written. Default:
            the order of the rows in their partition.
        dead_letter_path: folder for rows that cannot be records, with their reasons; default: such
            a row fails the task.
        dead_letter_format: format of the files in that folder; default ``"json"``.

    Raises:
        TypeError: if you create one with a value of a wrong type. The message names the field.
        ValueError: for a blank name, a name with a comma, both stream_name and stream_arn, or an
            unknown word.
    """

    stream_name: str | None = None
    stream_arn: str | None = None
    delivery_timeout: timedelta | None = None
    max_in_flight_requests: int | None = None
    max_buffered_bytes: int | None = None
    linger: timedelta | None = None
    aggregation: Aggregation | None = None
    max_aggregate_bytes: int | None = None
    max_aggregate_records: int | None = None
    ordering: Ordering | None = None
    order_by: str | None = None
    dead_letter_path: str | os.PathLike[str] | None = None
    dead_letter_format: DeadLetterFormat | None = None

    def __post_init__(self) -> None:
        """Check types. The connector checks values."""
        StreamAccess.__post_init__(self)  # super() fails here: slots=True creates another class
        for name in ("stream_name", "stream_arn"):
            if getattr(self, name) is not None:
                require_stream(name, getattr(self, name), several=_SEVERAL)
        require("order_by", self.order_by, str, ABSENT)
        require_at_most_one(self.stream_name, self.stream_arn)
        for name in ("max_in_flight_requests", "max_buffered_bytes"):
            require(name, getattr(self, name), int, ABSENT)
        for name in ("max_aggregate_bytes", "max_aggregate_records"):
            require(name, getattr(self, name), int, ABSENT)
        for name in ("delivery_timeout", "linger"):
            require(name, getattr(self, name), timedelta, ABSENT)
        require("dead_letter_path", self.dead_letter_path, str, os.PathLike, ABSENT)
        require_word("aggregation", self.aggregation, Aggregation)
        require_word("ordering", self.ordering, Ordering)
        require_word("dead_letter_format", self.dead_letter_format, DeadLetterFormat)

    def options(self) -> Mapping[str, str]:
        """The Spark options of these fields, for ``df.writeStream`` and ``df.write``.

        The values are complete, secrets included; the mapping's ``repr`` masks secrets.

        Raises:
            ValueError: for a duration that is not a whole number of milliseconds.
        """
        path = None if self.dead_letter_path is None else os.fspath(self.dead_letter_path)
        return SparkOptions(
            present(
                {
                    "streamName": self.stream_name,
                    "streamArn": self.stream_arn,
                    **self._access_options(),
                    "deliveryTimeout": duration("delivery_timeout", self.delivery_timeout),
                    "maxInFlightRequests": text(self.max_in_flight_requests),
                    "maxBufferedBytes": text(self.max_buffered_bytes),
                    "linger": duration("linger", self.linger),
                    "aggregation": self.aggregation,
                    "maxAggregateBytes": text(self.max_aggregate_bytes),
                    "maxAggregateRecords": text(self.max_aggregate_records),
                    "ordering": "perKey" if self.ordering == "per_key" else self.ordering,
                    "orderBy": self.order_by,
                    "deadLetterPath": path,
                    "deadLetterFormat": self.dead_letter_format,
                }
            )
        )

    def write_stream(
        self,
        df: DataFrame,
        *,
        checkpoint_location: str | os.PathLike[str] | None = None,
        query_name: str | None = None,
    ) -> DataStreamWriter:
        """Spark's writer of a streaming DataFrame, with its format and options already set.

        Call ``.trigger(...)``, ``.outputMode(...)`` and ``.start()`` on it as on any writer. The
        query writes every row at least once.

        Args:
            df: a streaming DataFrame.
            checkpoint_location: folder for the progress of the query, a different one for each
                query; default: ``spark.sql.streaming.checkpointLocation``.
            query_name: name of the query, which Spark shows; default: none.

        Raises:
            ValueError: for a duration that is not a whole number of milliseconds.
            KinesisJarMissingError: if the session has no connector.
        """
        require_connector(df.sparkSession)
        writer = df.writeStream.format(FORMAT).options(**self.options())
        if checkpoint_location is not None:
            writer = writer.option("checkpointLocation", os.fspath(checkpoint_location))
        return writer if query_name is None else writer.queryName(query_name)

    def write(self, df: DataFrame) -> None:
        """Write every row of a batch DataFrame at least once.

        Returns when Kinesis has acknowledged all rows.

        Raises:
            ValueError: for a duration that is not a whole number of milliseconds.
            KinesisJarMissingError: if the session has no connector.
            pyspark.errors.IllegalArgumentException: for an option that the connector refuses.
        """
        with explain_missing_jar(df.sparkSession):
            df.write.format(FORMAT).options(**self.options()).mode("append").save()
