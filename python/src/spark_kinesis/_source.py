"""The source: reads one or more streams."""

from __future__ import annotations

from dataclasses import dataclass
from datetime import timedelta
from types import MappingProxyType
from typing import TYPE_CHECKING

from ._options.access import StreamAccess
from ._options.consumers import EnhancedFanOut
from ._options.kcl import FromKclTable
from ._options.mapping import SparkOptions
from ._options.position_maps import (
    AnyPosition,
    StartingPosition,
    position_option,
    source_position,
    starting_position,
)
from ._options.positions import Latest
from ._options.replays import replay_options
from ._options.retry import RetryStrategy
from ._options.streams import require_one, require_streams, streams_option
from ._options.values import ABSENT, duration, present, require, text
from ._session.missing import FORMAT, explain_missing_jar

if TYPE_CHECKING:
    import os
    from collections.abc import Iterable, Mapping, Sequence

    from pyspark.sql import DataFrame, DataFrameReader, SparkSession
    from pyspark.sql.streaming.readwriter import DataStreamReader


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
        use_fips_endpoint: whether to call FIPS endpoints. Default: the AWS SDK decides.
        use_dual_stack_endpoint: whether to call endpoints that also have IPv6. Default: the AWS SDK
            decides.
        timeouts: time limits of calls to AWS. Default: those of ``Timeouts``.
        starting_position: position where a batch read begins, or a streaming query that has no
            checkpoint. The strings ``"latest"`` and ``"trim_horizon"`` mean ``Latest()`` and
            ``TrimHorizon()``. ``ByShard`` and ``ByStream`` set one position per shard or stream.
            ``FromKclTable`` begins where an application of the KCL stopped, and so does a
            dictionary such as ``{"kclTable": "orders-app"}``. Default: ``Latest()`` for a streaming
            query, ``TrimHorizon()`` for a batch read.
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
            another shard, by the arrival times, at least 1 s. Default: no limit.
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
        retry: how the source repeats calls that fail. Default: that of ``RetryStrategy``.

    Raises:
        TypeError: if a field has a value of the wrong type. The message names the field.
        ValueError: if a stream name or ARN is blank or contains a comma, if you do not set exactly
            one of ``stream_name`` and ``stream_arn``, if a position is an unknown string, or if a
            dictionary has an unknown key.
    """

    stream_name: str | Sequence[str] | None = None
    stream_arn: str | Sequence[str] | None = None
    starting_position: StartingPosition | None = None
    ending_position: AnyPosition | None = None
    allow_stream_removal: bool | None = None
    max_records_per_trigger: int | None = None
    max_bytes_per_trigger: int | None = None
    min_partitions: int | None = None
    max_partitions: int | None = None
    max_shard_skew: timedelta | None = None
    fail_on_data_loss: bool | None = None
    deaggregate: bool | None = None
    consumer: EnhancedFanOut | None = None
    max_records_per_fetch: int | None = None
    min_fetch_period: timedelta | None = None
    idle_fetch_period: timedelta | None = None
    fetch_buffer_size: int | None = None
    fetch_spill_size: int | None = None
    shard_discovery_interval: timedelta | None = None
    retry: RetryStrategy | None = None

    def __post_init__(self) -> None:
        """Check types. The connector checks values."""
        StreamAccess.__post_init__(self)  # super() fails here: slots=True creates another class
        require_one(self.stream_name, self.stream_arn)
        for name in ("stream_name", "stream_arn"):
            object.__setattr__(self, name, require_streams(name, getattr(self, name)))
        for name in ("max_records_per_trigger", "max_bytes_per_trigger"):
            require(name, getattr(self, name), int, ABSENT)
        for name in ("min_partitions", "max_partitions"):
            require(name, getattr(self, name), int, ABSENT)
        for name in ("max_records_per_fetch", "fetch_buffer_size", "fetch_spill_size"):
            require(name, getattr(self, name), int, ABSENT)
        for name in (
            "max_shard_skew",
            "min_fetch_period",
            "idle_fetch_period",
            "shard_discovery_interval",
        ):
            require(name, getattr(self, name), timedelta, ABSENT)
        for name in ("fail_on_data_loss", "deaggregate", "allow_stream_removal"):
            require(name, getattr(self, name), bool, ABSENT)
        require("consumer", self.consumer, EnhancedFanOut, ABSENT)
        require("retry", self.retry, RetryStrategy, ABSENT)
        start = starting_position("starting_position", self.starting_position)
        end = source_position("ending_position", self.ending_position)
        object.__setattr__(self, "starting_position", start)
        object.__setattr__(self, "ending_position", end)
        position_option("ending_position", end, self._streams)
        if not isinstance(start, FromKclTable):
            position_option("starting_position", start, self._streams)

    def options(self) -> Mapping[str, str]:
        """Return the options that these fields set, for ``spark.readStream`` and ``spark.read``.

        The values include secrets, but the ``repr`` of the mapping masks them.

        Raises:
            ValueError: if a duration is not a whole number of milliseconds.
            MissingPackageError: with ``FromKclTable``, if boto3 is not installed.
            MigrationError: with ``FromKclTable``, if its positions do not fit the streams, or if
                unread records have expired and ``fail_on_data_loss`` is not false.
        """
        start, end = self._start, self.ending_position
        return SparkOptions(
            present(
                {
                    "streamName": streams_option(self.stream_name),
                    "streamArn": streams_option(self.stream_arn),
                    **self._access_options(),
                    "startingPosition": position_option("starting_position", start, self._streams),
                    "endingPosition": position_option("ending_position", end, self._streams),
                    "allowStreamRemoval": text(self.allow_stream_removal),
                    "maxRecordsPerTrigger": text(self.max_records_per_trigger),
                    "maxBytesPerTrigger": text(self.max_bytes_per_trigger),
                    "minPartitions": text(self.min_partitions),
                    "maxPartitions": text(self.max_partitions),
                    "maxShardSkew": duration("max_shard_skew", self.max_shard_skew),
                    "failOnDataLoss": text(self.fail_on_data_loss),
                    "deaggregate": text(self.deaggregate),
                    **({} if self.consumer is None else self.consumer.options()),
                    "maxRecordsPerFetch": text(self.max_records_per_fetch),
                    "minFetchPeriod": duration("min_fetch_period", self.min_fetch_period),
                    "idleFetchPeriod": duration("idle_fetch_period", self.idle_fetch_period),
                    "fetchBufferSize": text(self.fetch_buffer_size),
                    "fetchSpillSize": text(self.fetch_spill_size),
                    "shardDiscoveryInterval": duration(
                        "shard_discovery_interval", self.shard_discovery_interval
                    ),
                    **({} if self.retry is None else self.retry.options()),
                }
            )
        )

    @property
    def _start(self) -> AnyPosition | None:
        start = starting_position("starting_position", self.starting_position)
        if not isinstance(start, FromKclTable):
            return start
        from .migrate.kcl.position import read_position  # noqa: PLC0415 needs boto3

        return read_position(
            start,
            self._streams,
            self,
            allow_loss=self.fail_on_data_loss is False,
        )

    @property
    def _streams(self) -> tuple[str, ...]:
        named = self.stream_name if self.stream_arn is None else self.stream_arn
        return (named,) if isinstance(named, str) else tuple(named or ())

    def read_stream(self, spark: SparkSession) -> DataFrame:
        """Return a streaming DataFrame of the streams, with the schema ``spark_kinesis.schema``.

        Raises:
            ValueError: if ``ending_position`` is set.
            KinesisJarMissingError: if the connector's jar is not in the session.
            pyspark.errors.IllegalArgumentException: if the connector refuses an option.
        """
        if self.ending_position is not None:
            raise ValueError("ending_position is for read(): a streaming query has no end")
        return self._frame(spark, spark.readStream)

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
        for name in ("max_records_per_trigger", "max_bytes_per_trigger"):
            if getattr(self, name) is not None:
                raise ValueError(f"{name} is for read_stream(): a batch read has one batch")
        if self.starting_position == Latest():
            raise ValueError(
                "starting_position is Latest(), so that a batch read would be empty: choose "
                "TrimHorizon(), AtTimestamp or ByShard"
            )
        return self._frame(spark, spark.read)

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
        if self.ending_position is not None:
            raise ValueError("ending_position is for read(): the batches of a replay have an end")
        return self._frame(spark, spark.read, replay_options(checkpoint, batches, source))

    def _frame(
        self,
        spark: SparkSession,
        reader: DataFrameReader | DataStreamReader,
        others: Mapping[str, str] = MappingProxyType({}),
    ) -> DataFrame:
        with explain_missing_jar(spark):
            frame = reader.format(FORMAT).options(**self.options(), **others).load()
            _ = frame.schema  # Connect resolves lazily: ask now, so that errors are raised here
            return frame
