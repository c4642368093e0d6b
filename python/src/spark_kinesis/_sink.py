"""Writing to a stream."""

from __future__ import annotations

import os
from dataclasses import dataclass
from datetime import timedelta
from typing import TYPE_CHECKING, Any, Literal

from ._access import StreamAccess, require_at_most_one
from ._session import explain_missing_jar
from ._values import ABSENT, duration, milliseconds, present, require, require_word, text

if TYPE_CHECKING:
    from pyspark.sql import DataFrame
    from pyspark.sql.streaming.query import StreamingQuery

OutputMode = Literal["append", "complete", "update"]
Aggregation = Literal["none", "kpl"]
Ordering = Literal["none", "per_key"]
DeadLetterFormat = Literal["json", "parquet"]
Trigger = timedelta | Literal["available_now"]


@dataclass(frozen=True, kw_only=True, slots=True)
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
        for name in ("stream_name", "stream_arn", "order_by"):
            require(name, getattr(self, name), str, ABSENT)
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

    def options(self) -> dict[str, str]:
        """The same as Spark options, for ``df.writeStream.format("kinesis")`` and ``df.write``.

        Holds secrets if ``credentials`` does: do not print it.

        Raises:
            ValueError: for a duration finer than a millisecond.
        """
        path = None if self.dead_letter_path is None else os.fspath(self.dead_letter_path)
        return present(
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

    def start(
        self,
        frame: DataFrame,
        *,
        checkpoint_location: str | os.PathLike[str],
        trigger: Trigger | None = None,
        output_mode: OutputMode = "append",
        query_name: str | None = None,
    ) -> StreamingQuery:
        """Start a query that writes every row of a streaming DataFrame, at least once.

        Args:
            frame: a streaming DataFrame.
            checkpoint_location: folder of the query's progress, one a query.
            trigger: time between micro-batches, in whole milliseconds, or ``"available_now"``;
                default: no pause.
            output_mode: Spark's.
            query_name: shown in Spark's UI.

        Returns:
            The running query.

        Raises:
            TypeError, ValueError: for another trigger.
            KinesisJarMissing: when the session was started without the connector.
            pyspark.errors.IllegalArgumentException: for an option the connector refuses.
        """
        when = _trigger_options(trigger)
        writer = frame.writeStream.format("kinesis").options(**self.options())
        writer = writer.outputMode(output_mode)
        writer = writer.option("checkpointLocation", os.fspath(checkpoint_location))
        if query_name is not None:
            writer = writer.queryName(query_name)
        if when is not None:
            writer = writer.trigger(**when)
        with explain_missing_jar():
            return writer.start()

    def save(self, frame: DataFrame) -> None:
        """Write every row of a batch DataFrame, at least once; return when all are acknowledged.

        Raises:
            KinesisJarMissing: when the session was started without the connector.
            pyspark.errors.IllegalArgumentException: for an option the connector refuses.
        """
        with explain_missing_jar():
            frame.write.format("kinesis").options(**self.options()).mode("append").save()


def _trigger_options(trigger: object) -> dict[str, Any] | None:
    """A trigger as ``DataStreamWriter.trigger`` takes it; ``None`` for Spark's default.

    Raises:
        TypeError: for what is neither a word nor a time.
        ValueError: for another word, a negative time or a part of a millisecond.
    """
    if trigger is None:
        return None
    if isinstance(trigger, timedelta):
        if trigger < timedelta(0):
            raise ValueError(f"trigger must not be negative, not {trigger!r}")
        return {"processingTime": f"{milliseconds('trigger', trigger)} milliseconds"}
    if trigger == "available_now":
        return {"availableNow": True}
    said = f"trigger must be a timedelta or 'available_now', not {trigger!r}"
    raise ValueError(said) if isinstance(trigger, str) else TypeError(said)
