"""The sink: writes rows to a stream."""

from __future__ import annotations

import os
from dataclasses import dataclass
from datetime import timedelta
from typing import TYPE_CHECKING, Literal

from ._options.access import StreamAccess
from ._options.declared import option
from ._session.missing import FORMAT, explain_missing_jar, require_connector

if TYPE_CHECKING:
    from pyspark.sql import DataFrame
    from pyspark.sql.streaming.readwriter import DataStreamWriter

Aggregation = Literal["none", "kpl"]
DeliveryGuarantee = Literal["at_least_once", "exactly_once"]
Ordering = Literal["none", "per_key"]
OnDeliveryTimeout = Literal["fail", "dead_letter"]


@dataclass(frozen=True, kw_only=True, slots=True, repr=False)
class KinesisSink(StreamAccess):
    """A stream to write to. A field that is ``None`` has the default of the connector.

    Rows must have a column ``data`` (binary or string). A row without a value in the column
    ``partitionKey`` (string) receives a random key. With ``ordering="per_key"`` or
    ``delivery_guarantee="exactly_once"``, such a row is an invalid row.

    Attributes:
        stream_name: name of the stream. Set ``stream_name`` or ``stream_arn``, but not both. You
            need neither if the rows have a column ``stream`` or ``streamArn``, which names the
            stream of each row. If you set one, the sink ignores these columns.
        stream_arn: ARN of the stream.
        region: AWS region. Default: from the ARN or the AWS endpoint, otherwise from the AWS SDK.
        endpoint: URL of the Kinesis service. Default: the endpoint that the AWS SDK chooses.
        credentials: AWS credentials. Default: the AWS SDK's provider chain.
        role: IAM role to assume with the credentials. Default: none.
        proxy: HTTP proxy. Default: the proxy of the JVM or of the environment.
        ca_bundle: path of a PEM file with the certificates to trust, on each machine. Default: the
            file in ``AWS_CA_BUNDLE``, otherwise the JVM's trust store.
        allow_unencrypted_endpoint: whether an endpoint on another machine may begin with
            ``http://``. Default: no. Only for servers of tests.
        use_fips_endpoint: whether to call FIPS endpoints. Default: the AWS SDK decides.
        use_dual_stack_endpoint: whether to call endpoints that also have IPv6. Default: the AWS SDK
            decides.
        timeouts: time limits of calls to AWS. Default: those of ``Timeouts``.
        delivery_guarantee: with ``"exactly_once"``, a streaming query or a batch write with a
            ``write_id`` does not write rows again that an earlier attempt has written. Requires
            ``aggregation="kpl"``, a column ``partitionKey`` and ``checkpoint_location``. Default:
            ``"at_least_once"``.
        write_id: name of a batch write with ``"exactly_once"`` or ``dead_letter_path``: the same if
            the job runs again, and another one for each other write. 1 to 128 of letters, digits,
            ``.``, ``_`` and ``-``. Default: none.
        delivery_timeout: maximum time that the sink retries a record, measured from its first
            request. After that time, the task fails. Default: 5 min.
        request_timeout: maximum time that the sink waits for the response to a request before it
            sends the records again, from 1 s to 30 s. Default: 10 s.
        max_in_flight_requests: maximum number of requests per task that wait for a response from
            Kinesis, from 1 to 256. Default: 16.
        max_request_records: maximum number of Kinesis records per request, from 1 to 500. Default:
            500.
        max_request_bytes: maximum size of a request in bytes, at most 10 MiB. Default: 5 MiB.
        max_buffered_bytes: maximum memory per task, in bytes, for rows that Kinesis has not
            acknowledged. Default: 64 MiB.
        linger: maximum time that the sink holds a record back, so that one request can contain
            several records. At most 1 min. Default: 100 ms; with a real-time trigger, 5 ms.
        aggregation: ``"kpl"`` packs many rows into one Kinesis record, in the format of the Kinesis
            Producer Library. Default: ``"none"``.
        max_aggregate_bytes: maximum size of an aggregated record in bytes, from 1 KiB to 1 MiB.
            Requires ``aggregation="kpl"``. Default: 50 KiB.
        max_aggregate_records: maximum number of rows per aggregated record. Requires
            ``aggregation="kpl"``. Default: 10000.
        ordering: ``"per_key"`` writes the rows of each partition key in order. This needs one
            shuffle per batch. Default: ``"none"``.
        order_by: name of the column by which the sink sorts the rows of each partition key. The
            sink does not write this column. Requires ``ordering="per_key"``. Default: the order of
            the rows in their partition.
        dead_letter_path: folder where the sink writes invalid rows and, with
            ``on_delivery_timeout="dead_letter"``, rows that timed out, as JSON with the reason for
            each row. Default: an invalid row fails the task.
        on_delivery_timeout: with ``"dead_letter"``, rows that their shard does not accept within
            ``delivery_timeout`` are written to ``dead_letter_path``, and the task continues.
            Default: ``"fail"``.

    Raises:
        TypeError: if a field has a value of the wrong type. The message names the field. The
            connector checks values when ``write`` begins, or with the first micro-batch of a
            streaming query, which then fails.
    """

    stream_name: str | None = option("streamName", str)
    stream_arn: str | None = option("streamArn", str)
    delivery_guarantee: DeliveryGuarantee | None = option("deliveryGuarantee", str, is_word=True)
    write_id: str | None = option("writeId", str)
    delivery_timeout: timedelta | None = option("deliveryTimeout", timedelta)
    request_timeout: timedelta | None = option("requestTimeout", timedelta)
    max_in_flight_requests: int | None = option("maxInFlightRequests", int)
    max_request_records: int | None = option("maxRequestRecords", int)
    max_request_bytes: int | None = option("maxRequestBytes", int)
    max_buffered_bytes: int | None = option("maxBufferedBytes", int)
    linger: timedelta | None = option("linger", timedelta)
    aggregation: Aggregation | None = option("aggregation", str, is_word=True)
    max_aggregate_bytes: int | None = option("maxAggregateBytes", int)
    max_aggregate_records: int | None = option("maxAggregateRecords", int)
    ordering: Ordering | None = option("ordering", str, is_word=True)
    order_by: str | None = option("orderBy", str)
    dead_letter_path: str | os.PathLike[str] | None = option("deadLetterPath", str, os.PathLike)
    on_delivery_timeout: OnDeliveryTimeout | None = option("onDeliveryTimeout", str, is_word=True)

    def write_stream(
        self,
        df: DataFrame,
        *,
        checkpoint_location: str | os.PathLike[str] | None = None,
        query_name: str | None = None,
    ) -> DataStreamWriter:
        """Return a ``DataStreamWriter`` with the format and the options of this sink.

        Call ``.trigger(...)``, ``.outputMode(...)`` and ``.start()`` on the writer as usual. The
        query writes every row at least once, or exactly once if ``delivery_guarantee`` says so.

        Args:
            df: a streaming DataFrame.
            checkpoint_location: folder for the checkpoint of the query. Each query needs its own
                folder. Default: the Spark setting ``spark.sql.streaming.checkpointLocation``.
            query_name: name of the query in Spark's UI and metrics. Default: none.

        Raises:
            ValueError: if a duration is not a whole number of milliseconds.
            KinesisJarMissingError: if the connector's jar is not in the session.
        """
        require_connector(df.sparkSession)
        writer = df.writeStream.format(FORMAT).options(**self.options())
        if checkpoint_location is not None:
            writer = writer.option("checkpointLocation", os.fspath(checkpoint_location))
        return writer if query_name is None else writer.queryName(query_name)

    def write(
        self, df: DataFrame, *, checkpoint_location: str | os.PathLike[str] | None = None
    ) -> None:
        """Write every row of a batch DataFrame: by default at least once.

        The method returns when Kinesis has acknowledged all rows. With
        ``delivery_guarantee="exactly_once"`` and ``write_id``, a job that runs again writes only
        the rows that are missing. If the job was complete, the method writes nothing, and fails if
        the rows are not the same as before.

        Args:
            df: a batch DataFrame.
            checkpoint_location: folder for the log of attempts of ``"exactly_once"``. Several
                writes can share it. Default: none.

        Raises:
            ValueError: if a duration is not a whole number of milliseconds.
            KinesisJarMissingError: if the connector's jar is not in the session.
            pyspark.errors.IllegalArgumentException: if the connector refuses an option.
        """
        with explain_missing_jar():
            writer = df.write.format(FORMAT).options(**self.options()).mode("append")
            if checkpoint_location is not None:
                writer = writer.option("checkpointLocation", os.fspath(checkpoint_location))
            writer.save()
