"""The source: streams to read."""

from __future__ import annotations

from dataclasses import dataclass
from datetime import timedelta
from typing import TYPE_CHECKING, cast

from ._options.access import StreamAccess, require_one, require_stream
from ._options.mapping import SparkOptions
from ._options.position_maps import AnyPosition, position_option, source_position
from ._options.positions import Latest
from ._options.values import ABSENT, duration, present, require, text
from ._session.missing import FORMAT, explain_missing_jar

if TYPE_CHECKING:
    from collections.abc import Mapping, Sequence

    from pyspark.sql import DataFrame, DataFrameReader, SparkSession
    from pyspark.sql.streaming.readwriter import DataStreamReader


@dataclass(frozen=True, kw_only=True, slots=True, repr=False)
class KinesisSource(StreamAccess):
    """Streams to read. For each field that is ``None`` the connector has a default.

    Attributes:
        stream_name: name of the stream, or a list of names in one region. Set this or stream_arn.
        stream_arn: ARN of the stream, or a list of ARNs, also of several regions and accounts.
        region: AWS region; default: from the default chain of the AWS SDK.
        endpoint: URL of the service, such as that of a local Kinesis; default: that of the region.
        credentials: default: from the default chain of the AWS SDK.
        role: role to assume with the credentials; default: none.
        starting_position: where a query without a checkpoint starts to read; default ``Latest()``
            for a streaming query and ``TrimHorizon()`` for a batch read. A word such as
            ``"latest"`` is the position of that name. ``ByShard`` and ``ByStream`` set a position
            for each shard or stream.
        ending_position: where a batch read ends; default ``Latest()``: with the records that have
            arrived when Spark plans the read. ``AtTimestamp`` excludes records of that moment.
        allow_stream_removal: whether to continue if the source no longer names a stream of the
            checkpoint, whose unread records are then skipped; default false.
        max_records_per_trigger: maximum number of Kinesis records per micro-batch. An aggregated
            record counts as one. Default: no maximum.
        max_bytes_per_trigger: maximum number of bytes per micro-batch; default: no maximum.
        min_partitions: minimum number of tasks per micro-batch, if it has enough records. Several
            tasks may then read a shard, and only each task keeps the order. Default: none.
        fail_on_data_loss: whether the query fails if records expired before they were read;
            otherwise it skips them. Default true.
        deaggregate: whether each user record in an aggregate of the Kinesis Producer Library is a
            row; otherwise the aggregate is one row. Default true.
        max_records_per_fetch: maximum number of records per request, up to 10000; default 10000.
        min_fetch_period: minimum time between two requests to a shard; default 200 ms.
        idle_fetch_period: time between two requests to an idle shard; default 1 s.
        fetch_buffer_size: maximum number of bytes read ahead per executor; default 256 MiB.
        shard_discovery_interval: time between two checks that every shard is read, from 1 s to
            1 h; default 10 s.

    Raises:
        TypeError: if you create one with a value of a wrong type. The message names the field.
        ValueError: for a blank name, a name with a comma, both or none of stream_name and
            stream_arn, or an unknown word.
    """

    stream_name: str | Sequence[str] | None = None
    stream_arn: str | Sequence[str] | None = None
    starting_position: AnyPosition | None = None
    ending_position: AnyPosition | None = None
    allow_stream_removal: bool | None = None
    max_records_per_trigger: int | None = None
    max_bytes_per_trigger: int | None = None
    min_partitions: int | None = None
    fail_on_data_loss: bool | None = None
    deaggregate: bool | None = None
    max_records_per_fetch: int | None = None
    min_fetch_period: timedelta | None = None
    idle_fetch_period: timedelta | None = None
    fetch_buffer_size: int | None = None
    shard_discovery_interval: timedelta | None = None

    def __post_init__(self) -> None:
        """Check types. The connector checks values."""
        StreamAccess.__post_init__(self)  # super() fails here: slots=True creates another class
        require_one(self.stream_name, self.stream_arn)
        for name in ("stream_name", "stream_arn"):
            object.__setattr__(self, name, _named(name, getattr(self, name)))
        for name in ("max_records_per_trigger", "max_bytes_per_trigger"):
            require(name, getattr(self, name), int, ABSENT)
        for name in ("min_partitions", "max_records_per_fetch", "fetch_buffer_size"):
            require(name, getattr(self, name), int, ABSENT)
        for name in ("min_fetch_period", "idle_fetch_period", "shard_discovery_interval"):
            require(name, getattr(self, name), timedelta, ABSENT)
        for name in ("fail_on_data_loss", "deaggregate", "allow_stream_removal"):
            require(name, getattr(self, name), bool, ABSENT)
        for name in ("starting_position", "ending_position"):
            position = source_position(name, getattr(self, name))
            object.__setattr__(self, name, position)
            position_option(name, position, self._streams)

    def options(self) -> Mapping[str, str]:
        """The Spark options of these fields, for ``spark.readStream`` and ``spark.read``.

        The values are complete, secrets included; the mapping's ``repr`` masks secrets.

        Raises:
            ValueError: for a duration that is not a whole number of milliseconds.
        """
        start, end = self.starting_position, self.ending_position
        return SparkOptions(
            present(
                {
                    "streamName": _joined(self.stream_name),
                    "streamArn": _joined(self.stream_arn),
                    **self._access_options(),
                    "startingPosition": position_option("starting_position", start, self._streams),
                    "endingPosition": position_option("ending_position", end, self._streams),
                    "allowStreamRemoval": text(self.allow_stream_removal),
                    "maxRecordsPerTrigger": text(self.max_records_per_trigger),
                    "maxBytesPerTrigger": text(self.max_bytes_per_trigger),
                    "minPartitions": text(self.min_partitions),
                    "failOnDataLoss": text(self.fail_on_data_loss),
                    "deaggregate": text(self.deaggregate),
                    "maxRecordsPerFetch": text(self.max_records_per_fetch),
                    "minFetchPeriod": duration("min_fetch_period", self.min_fetch_period),
                    "idleFetchPeriod": duration("idle_fetch_period", self.idle_fetch_period),
                    "fetchBufferSize": text(self.fetch_buffer_size),
                    "shardDiscoveryInterval": duration(
                        "shard_discovery_interval", self.shard_discovery_interval
                    ),
                }
            )
        )

    @property
    def _streams(self) -> tuple[str, ...]:
        named = self.stream_name if self.stream_arn is None else self.stream_arn
        return (named,) if isinstance(named, str) else tuple(named or ())

    def read_stream(self, spark: SparkSession) -> DataFrame:
        """The streams as a streaming DataFrame, with the columns of ``spark_kinesis.schema``.

        Raises:
            ValueError: if ending_position is set.
            KinesisJarMissingError: if the session has no connector.
            pyspark.errors.IllegalArgumentException: for an option that the connector refuses.
        """
        if self.ending_position is not None:
            raise ValueError("ending_position is for read(): a streaming query has no end")
        return self._frame(spark, spark.readStream)

    def read(self, spark: SparkSession) -> DataFrame:
        """The records between the two positions as a batch DataFrame.

        The columns are those of ``spark_kinesis.schema``. Without an ending_position, Spark
        decides the end each time it plans the DataFrame: all records that have arrived by then.

        Raises:
            ValueError: if a limit per micro-batch is set, or the start is ``Latest()``.
            KinesisJarMissingError: if the session has no connector.
            pyspark.errors.IllegalArgumentException: for an option that the connector refuses.
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

    def _frame(self, spark: SparkSession, reader: DataFrameReader | DataStreamReader) -> DataFrame:
        with explain_missing_jar(spark):
            frame = reader.format(FORMAT).options(**self.options()).load()
            _ = frame.schema  # Connect resolves lazily: ask now, so that errors are raised here
            return frame


def _named(name: str, given: object) -> str | tuple[str, ...] | None:
    """One stream as it is, several as a tuple.

    Raises:
        TypeError, ValueError: for anything else than names.
    """
    if given is None or isinstance(given, str):
        if given is not None:
            require_stream(name, given, several="pass a list to read several streams")
        return given
    require(name, given, list, tuple, str, ABSENT)
    streams = tuple(cast("Sequence[str]", given))
    for stream in streams:
        require_stream(f"a stream of {name}", stream, several="make it several entries of the list")
    if not streams:
        raise ValueError(f"{name} is an empty list: name at least one stream")
    return streams


def _joined(streams: str | Sequence[str] | None) -> str | None:
    return streams if streams is None or isinstance(streams, str) else ",".join(streams)
