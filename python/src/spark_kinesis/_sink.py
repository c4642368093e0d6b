"""Writing to a stream."""

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
    """A stream to write to. Every field left at ``None`` takes the connector's default.

    Rows need a column ``data`` (binary or string). ``partitionKey`` (string) is random where the
    column is left out; a null in it is a bad row.

    Attributes:
        stream_name: this, or stream_arn; neither where rows have a column ``stream`` or
            ``streamArn`` that says where each of them goes.
        stream_arn: this, or stream_name.
        region: default: the AWS SDK's chain.
        endpoint: URL in place of the region's own, such as a local Kinesis'.
        credentials: default: the AWS SDK's chain.
        role: assumed with those credentials.
        delivery_timeout: how long a record may be retried, from when it was first sent, before the
            task fails; default 5 min.
        max_in_flight_requests: unanswered requests a task, at most 256; default 16.
        max_buffered_bytes: data and keys of rows not yet acknowledged, and 128 bytes for each, a
            task; default 64 MiB.
        linger: how long a record waits for others to go with it, at most 1 min; default 100 ms.
        aggregation: ``"kpl"``: many rows a Kinesis record, in the format of the Kinesis Producer
            Library; default ``"none"``.
        max_aggregate_bytes: bytes of such a record, 1 KiB to 1 MiB; default 50 KiB.
        max_aggregate_records: rows in one; default 10000.
        ordering: ``"per_key"``: the rows of one partition key are written in their order, which
            costs a shuffle; default ``"none"``.
        order_by: the column that is this order, in each micro-batch; it is not written. Default:
            rows of one key keep the order they have in their partition, and no other.
        dead_letter_path: folder for the rows that cannot be records, with their reasons; default:
            such a row fails the task.
        dead_letter_format: of the files there; default ``"json"``.
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
        """Check types; values are the connector's to check."""
        StreamAccess.__post_init__(self)  # no bare super(): slots=True makes the class anew
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
        with explain_missing_jar():
            df.write.format(FORMAT).options(**self.options()).mode("append").save()
