"""The source: reads one or more streams."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING, Literal

from spark_kinesis._options.access import StreamAccess
from spark_kinesis._options.declared import number, period, size, switch

from .fields import checked, options
from .frames import batch_frame, replay_frame, stream_frame

if TYPE_CHECKING:
    import os
    from collections.abc import Iterable, Mapping, Sequence
    from datetime import timedelta

    from pyspark.sql import DataFrame, SparkSession

    from spark_kinesis._options.consumers import EnhancedFanOut
    from spark_kinesis._options.position_maps import AnyPosition


@dataclass(frozen=True, kw_only=True, slots=True, repr=False)
class KinesisSource(StreamAccess):
    """One or more streams to read. A field that is ``None`` has the default of the connector.

    Attributes:
        stream_name: stream name, or a list of names in one region. Set this or ``stream_arn``.
        stream_arn: ARN of the stream, or a list of ARNs in one or more regions and accounts.
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
        starting_position: position where a batch read begins, or a streaming query that has no
            checkpoint. The strings ``"latest"`` and ``"trim_horizon"`` mean ``Latest()`` and
            ``TrimHorizon()``. ``ByShard`` and ``ByStream`` set one position per shard or stream.
            Default: ``Latest()`` for a streaming query, ``TrimHorizon()`` for a batch read.
        ending_position: position where a batch read ends. With ``AtTimestamp``, the read ends
            before the first record that arrived at or after that time. Default: ``Latest()``,
            which is the last record that has arrived when Spark plans the read.
        allow_stream_removal: whether a query may continue if you remove one of its streams from the
            source. The query then skips the unread records of that stream. Default: false.
        max_records_per_trigger: maximum number of Kinesis records per micro-batch. An aggregated
            record counts as one. Default: no limit.
        max_bytes_per_trigger: maximum bytes of data per micro-batch. Default: no limit.
        min_partitions: minimum number of tasks per micro-batch, if it has enough records. Several
            tasks may then read a shard, and rows are in order only within a task. Default: none.
        max_partitions: maximum number of tasks per batch, also in real-time mode. It cannot be less
            than ``min_partitions``. Default in real-time mode: the number of slots of the
            application.
        max_shard_skew: maximum time that a shard may be ahead of the oldest unread record of
            another shard, by the arrival times, at least 1 s, or ``"none"``. Default: half of the
            smallest delay of the query's watermarks, and no limit without a watermark.
        fail_on_data_loss: whether the query fails if records expired before the query read them. If
            false, the query continues without these records. Default: true.
        deaggregate: whether the source unpacks aggregated records of the Kinesis Producer Library
            into one row per user record. If false, an aggregated record is one row. Default: true.
        consumer: the consumer of enhanced fan-out that a streaming query reads with. Default: none.
            The query polls.
        max_records_per_fetch: maximum records per request, from 1 to 10000. Default: 10000.
        min_fetch_period: minimum time between two requests to the same shard. Default: 200 ms.
        idle_fetch_period: time between two requests to a shard without new records. Default: 1 s.
        fetch_buffer_size: bytes of memory per executor for prefetched records. Default: a sixth
            of the heap, at most 1 GiB.
        fetch_spill_size: bytes of local disk per executor for prefetched records that do not fit in
            memory; 0 for none. Default: 4 GiB.
        shard_discovery_interval: time between two checks of the shard list, from 1 s to 1 h.
            Default: 10 s.
        retry_timeout: how long calls to one shard may fail in a row until the query fails, at least
            1 s, or ``"unlimited"``. One call per 15 s of it must fail, at least 5 and at most 21.
            Calls that a quota refused do not count. Default: 5 minutes.

    Raises:
        TypeError: if a field has a value of the wrong type. The message names the field.
        ValueError: if a stream name or ARN is blank or contains a comma, if you do not set exactly
            one of ``stream_name`` and ``stream_arn``, if a position is an unknown string, if a
            dictionary has an unknown key, if ``max_shard_skew`` is another string than ``"none"``,
            or if ``retry_timeout`` is another string than ``"unlimited"``.
    """

    stream_name: str | Sequence[str] | None = None
    stream_arn: str | Sequence[str] | None = None
    starting_position: AnyPosition | None = None
    ending_position: AnyPosition | None = None
    allow_stream_removal: bool | None = switch("allowStreamRemoval")
    max_records_per_trigger: int | None = number("maxRecordsPerTrigger")
    max_bytes_per_trigger: int | None = size("maxBytesPerTrigger")
    min_partitions: int | None = number("minPartitions")
    max_partitions: int | None = number("maxPartitions")
    max_shard_skew: timedelta | Literal["none"] | None = period("maxShardSkew", Literal["none"])
    fail_on_data_loss: bool | None = switch("failOnDataLoss")
    deaggregate: bool | None = switch("deaggregate")
    consumer: EnhancedFanOut | None = None
    max_records_per_fetch: int | None = number("maxRecordsPerFetch")
    min_fetch_period: timedelta | None = period("minFetchPeriod")
    idle_fetch_period: timedelta | None = period("idleFetchPeriod")
    fetch_buffer_size: int | None = size("fetchBufferSize")
    fetch_spill_size: int | None = size("fetchSpillSize")
    shard_discovery_interval: timedelta | None = period("shardDiscoveryInterval")
    retry_timeout: timedelta | Literal["unlimited"] | None = period(
        "retryTimeout", Literal["unlimited"]
    )

    def __post_init__(self) -> None:
        """Check types. The connector checks values."""
        StreamAccess.__post_init__(self)  # super() fails here: slots=True creates another class
        for name, value in checked(self).items():
            object.__setattr__(self, name, value)

    def options(self) -> Mapping[str, str]:
        """Return the options that these fields set, for ``spark.readStream`` and ``spark.read``.

        The values include secrets, but the ``repr`` of the mapping masks them.

        Raises:
            ValueError: if a duration is not a whole number of milliseconds.
        """
        return options(self, self._access_options())

    def read_stream(self, spark: SparkSession) -> DataFrame:
        """Return a streaming DataFrame of the streams, with the schema ``spark_kinesis.schema``.

        Raises:
            ValueError: if ``ending_position`` is set.
            KinesisJarMissingError: if the connector's jar is not in the session.
            pyspark.errors.IllegalArgumentException: if the connector refuses an option.
        """
        return stream_frame(self, spark)

    def read(self, spark: SparkSession) -> DataFrame:
        """Return a batch DataFrame of the records from the starting to the ending position.

        The schema is ``spark_kinesis.schema``. Without ``ending_position``, the read ends with the
        last record that has arrived when Spark plans it. A second plan may return more records.

        Raises:
            ValueError: if ``max_records_per_trigger`` or ``max_bytes_per_trigger`` is set, or if
                ``starting_position`` is ``Latest()``.
            KinesisJarMissingError: if the connector's jar is not in the session.
            pyspark.errors.IllegalArgumentException: if the connector refuses an option.
        """
        return batch_frame(self, spark)

    def replay(
        self,
        spark: SparkSession,
        *,
        checkpoint: str | os.PathLike[str],
        batches: int | Iterable[int],
        source: int | str | None = None,
    ) -> DataFrame:
        """Return a batch DataFrame of the rows that a streaming query read in some micro-batches.

        The schema is ``spark_kinesis.schema`` with one more column, ``batchId``. The query may be
        running, or be stopped. Its checkpoint is only read. Fields that limit a micro-batch, or say
        where a query begins, have no effect, so you can use the source of the query itself.

        Args:
            spark: the session that reads.
            checkpoint: ``checkpointLocation`` of the query.
            batches: number of a micro-batch, or several numbers such as ``range(120, 125)``.
            source: number of the source in the query, counted from 0, or its name, if Spark stores
                names. Default: the only Kinesis source of the query.

        Raises:
            TypeError: if an argument has a value of the wrong type.
            ValueError: if there are no batches, a batch number is negative, or ``ending_position``
                is set.
            KinesisJarMissingError: if the connector's jar is not in the session.
            pyspark.errors.IllegalArgumentException: if the connector refuses an option. If the
                checkpoint does not contain a batch, or its records have expired, the error is
                raised when Spark plans the read.
        """
        return replay_frame(self, spark, checkpoint, batches, source)
