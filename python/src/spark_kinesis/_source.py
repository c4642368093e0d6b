"""Reading streams."""

from __future__ import annotations

from dataclasses import dataclass
from datetime import timedelta
from typing import TYPE_CHECKING, cast

from ._options.access import StreamAccess, require_one, require_stream
from ._options.mapping import SparkOptions
from ._options.positions import AnyPosition, Latest, position_option, source_position
from ._options.values import ABSENT, duration, present, require, text
from ._session.missing import FORMAT, explain_missing_jar

if TYPE_CHECKING:
    from collections.abc import Mapping, Sequence

    from pyspark.sql import DataFrame, DataFrameReader, SparkSession
    from pyspark.sql.streaming.readwriter import DataStreamReader


@dataclass(frozen=True, kw_only=True, slots=True, repr=False)
class KinesisSource(StreamAccess):
    """Streams to read. Every field left at ``None`` takes the connector's default.

    Attributes:
        stream_name: this, or stream_arn; one, or several of one region.
        stream_arn: this, or stream_name; one, or several, also of other regions and accounts.
        region: default: the AWS SDK's chain.
        endpoint: URL in place of the region's own, such as a local Kinesis'.
        credentials: default: the AWS SDK's chain.
        role: assumed with those credentials.
        starting_position: for a query without a checkpoint; default ``Latest()``, and
            ``TrimHorizon()`` of a batch read. ``ByShard`` and ``ByStream`` say it for each.
        ending_position: of a batch read, where it stops; default ``Latest()``: with what has
            arrived when it is planned. What arrived at ``AtTimestamp`` or later is left out.
        allow_stream_removal: go on without a stream of the checkpoint that is no longer
            named, giving up what is unread in it; default false.
        max_records_per_trigger: records a micro-batch, an aggregate counting as one; default: no
            limit.
        max_bytes_per_trigger: bytes a micro-batch; default: no limit.
        min_partitions: tasks a micro-batch, where it has enough to share out; records of a
            shard may then be in several, and keep their order only in each; default: none.
        fail_on_data_loss: fail rather than skip records that are gone; default true.
        deaggregate: a row for each record that the Kinesis Producer Library put into an aggregate;
            otherwise one for the aggregate, as it is. Default true.
        max_records_per_fetch: records a request, up to 10000; default 10000.
        min_fetch_period: between two requests to a shard; default 200 ms.
        idle_fetch_period: between two requests to an idle shard; default 1 s.
        fetch_buffer_size: bytes read ahead, an executor; default 256 MiB.
        shard_discovery_interval: between two checks that every shard is looked after,
            1 s to 1 h; default 10 s.
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
        """Check types; values are the connector's to check."""
        StreamAccess.__post_init__(self)  # no bare super(): slots=True makes the class anew
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
            raise ValueError("ending_position is for read(): a stream that is read has no end")
        return self._frame(spark.readStream)

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
        return self._frame(spark.read)

    def _frame(self, reader: DataFrameReader | DataStreamReader) -> DataFrame:
        with explain_missing_jar():
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
