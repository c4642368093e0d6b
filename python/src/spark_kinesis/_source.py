"""The source: reads one or more streams."""

from __future__ import annotations

import operator
import os
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from datetime import timedelta
from itertools import islice
from types import MappingProxyType
from typing import TYPE_CHECKING, Any, Literal, cast

from ._options.access import StreamAccess
from ._options.declared import ABSENT, SparkOptions, option, part, present, require
from ._options.positions import OF_SOURCE, AnyPosition, position, position_option
from ._session.missing import FORMAT, explain_missing_jar

if TYPE_CHECKING:
    from pyspark.sql import DataFrame, SparkSession

_MOST_BATCHES = 10_000  # the connector's limit
_IN_FLOW_FUNCTION = "ATTEMPT_ANALYSIS_IN_PIPELINE_QUERY_FUNCTION"


@dataclass(frozen=True, kw_only=True, slots=True)
class EnhancedFanOut:
    """Kinesis pushes the records to a registered consumer, which has its own throughput per shard.

    Each query needs a consumer of its own, and AWS charges for it.

    Attributes:
        name: name of the consumer in each stream of the source: 1 to 128 letters, digits, ``_``,
            ``.`` and ``-``. If a stream has no such consumer, the query registers it. The query
            never deregisters it. Set this or ``arn``.
        arn: ARN of a consumer, or a list with the ARN of one consumer per stream of the source. The
            query then registers nothing.

    Raises:
        TypeError: if a field has a value of the wrong type. The message names the field.
        ValueError: if an entry of a list of ARNs contains a comma.
    """

    name: str | None = None
    arn: str | Sequence[str] | None = None

    def __post_init__(self) -> None:
        """Check types, and keep a copy that cannot change. The connector checks values."""
        require("name", self.name, str, ABSENT)
        object.__setattr__(self, "arn", _one_or_several("arn", self.arn))

    def options(self) -> dict[str, str]:
        """The options that select this consumer."""
        given = {"consumerName": self.name, "consumerArn": _joined(self.arn)}
        return present({"consumerMode": "efo", **given})


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
            checkpoint. The string ``"latest"`` means ``Latest()``, ``"trim_horizon"`` and
            ``"earliest"`` mean ``TrimHorizon()``. A ``datetime``, or a string such as
            ``"2026-01-02T03:04:05Z"``, means ``AtTimestamp``. ``ByShard`` and ``ByStream`` set one
            position per shard or stream. Default: ``Latest()`` for a streaming query,
            ``TrimHorizon()`` for a batch read.
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
        max_partitions: maximum number of tasks per batch. Default: none; in real-time mode, the
            number of slots of the application.
        max_shard_skew: maximum time that a shard may be ahead of another one, at least 1 s, or
            ``"none"``. Default: half of the smallest delay of the query's watermarks.
        fail_on_data_loss: whether the query fails if records expired before the query read them. If
            false, the query continues without these records. Default: true.
        deaggregate: whether the source de-aggregates records of the Kinesis Producer Library into
            one row per user record. If false, an aggregated record is one row. Default: true.
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
            1 s, or ``"unlimited"``. Default: 5 minutes.

    Raises:
        TypeError: if a field has a value of the wrong type. The message names the field.
        ValueError: if a position is an unknown string or a time without a time zone, or if an entry
            of a list of streams contains a comma. The connector checks all other values when you
            define a DataFrame.
    """

    stream_name: str | Sequence[str] | None = None
    stream_arn: str | Sequence[str] | None = None
    starting_position: AnyPosition | None = None
    ending_position: AnyPosition | None = None
    allow_stream_removal: bool | None = option("allowStreamRemoval", bool)
    max_records_per_trigger: int | None = option("maxRecordsPerTrigger", int)
    max_bytes_per_trigger: int | None = option("maxBytesPerTrigger", int)
    min_partitions: int | None = option("minPartitions", int)
    max_partitions: int | None = option("maxPartitions", int)
    max_shard_skew: timedelta | Literal["none"] | None = option("maxShardSkew", timedelta, str)
    fail_on_data_loss: bool | None = option("failOnDataLoss", bool)
    deaggregate: bool | None = option("deaggregate", bool)
    consumer: EnhancedFanOut | None = part(EnhancedFanOut)
    max_records_per_fetch: int | None = option("maxRecordsPerFetch", int)
    min_fetch_period: timedelta | None = option("minFetchPeriod", timedelta)
    idle_fetch_period: timedelta | None = option("idleFetchPeriod", timedelta)
    fetch_buffer_size: int | None = option("fetchBufferSize", int)
    fetch_spill_size: int | None = option("fetchSpillSize", int)
    shard_discovery_interval: timedelta | None = option("shardDiscoveryInterval", timedelta)
    retry_timeout: timedelta | Literal["unlimited"] | None = option("retryTimeout", timedelta, str)

    def __post_init__(self) -> None:
        """Check types. The connector checks values."""
        StreamAccess.__post_init__(self)  # super() fails in a class with slots
        for name in ("stream_name", "stream_arn"):
            object.__setattr__(self, name, _one_or_several(name, getattr(self, name)))
        for name in ("starting_position", "ending_position"):
            given = getattr(self, name)
            at = None if given is None else position(name, given, OF_SOURCE)
            object.__setattr__(self, name, at)
            position_option(name, at, self._streams)

    def options(self) -> Mapping[str, str]:
        """Return the options that these fields set, for ``spark.readStream`` and ``spark.read``.

        The values include secrets, but the ``repr`` of the mapping masks them.

        Raises:
            ValueError: if a duration is not a whole number of milliseconds.
        """
        start, end = self.starting_position, self.ending_position
        own = {
            "streamName": _joined(self.stream_name),
            "streamArn": _joined(self.stream_arn),
            "startingPosition": position_option("starting_position", start, self._streams),
            "endingPosition": position_option("ending_position", end, self._streams),
        }
        return SparkOptions({**present(own), **StreamAccess.options(self)})

    @property
    def _streams(self) -> tuple[str, ...]:
        named = self.stream_name if self.stream_arn is None else self.stream_arn
        return (named,) if isinstance(named, str) else tuple(named or ())

    def read_stream(self, spark: SparkSession, *, name: str | None = None) -> DataFrame:
        """Return a streaming DataFrame of the streams, with the schema ``spark_kinesis.schema``.

        Args:
            spark: the session that reads.
            name: name of the source in the checkpoint, of ASCII letters, digits and ``_``. With it,
                the query finds the offsets of this source again after you added, removed or
                reordered other sources. Requires Spark 4.2 or later, and the setting
                ``spark.sql.streaming.queryEvolution.enableSourceEvolution=true``, with which all
                sources of a query need names. Default: Spark numbers the sources.

        Raises:
            ValueError: if there is a ``name``, and this Spark has no names of sources.
            KinesisJarMissingError: if the connector's jar is not in the session.
            pyspark.errors.IllegalArgumentException: if the connector refuses an option.
        """
        reader = spark.readStream
        if name is not None:
            if not hasattr(reader, "name"):
                raise ValueError(
                    f"name={name!r} requires Spark 4.2 or later, and this is Spark "
                    f"{spark.version}, which numbers the sources of a query. Remove the argument"
                )
            reader = reader.name(name)
        return self._frame(reader)

    def read(self, spark: SparkSession) -> DataFrame:
        """Return a batch DataFrame of the records from the starting to the ending position.

        The schema is ``spark_kinesis.schema``. Without ``ending_position``, the read ends with the
        last record that has arrived when Spark plans it. A second plan may return more records.

        Raises:
            KinesisJarMissingError: if the connector's jar is not in the session.
            pyspark.errors.IllegalArgumentException: if the connector refuses an option.
        """
        return self._frame(spark.read)

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
            batches: number of a micro-batch, or up to 10,000 numbers such as ``range(120, 125)``.
            source: number of the source in the query, counted from 0, or its name, if Spark stores
                names. Default: the only Kinesis source of the query.

        Raises:
            TypeError: if an argument has a value of the wrong type.
            ValueError: if there are more than 10,000 batches, and they are not a ``range``, which
                the connector checks.
            KinesisJarMissingError: if the connector's jar is not in the session.
            pyspark.errors.IllegalArgumentException: if the connector refuses an option, such as
                ``ending_position``. If the checkpoint does not contain a batch, or its records have
                expired, the error is raised when Spark plans the read.
        """
        return self._frame(spark.read, replay_options(checkpoint, batches, source))

    def _frame(self, reader: Any, others: Mapping[str, str] = MappingProxyType({})) -> DataFrame:
        with explain_missing_jar():
            frame: DataFrame = reader.format(FORMAT).options(**self.options(), **others).load()
            _raise_errors_of(frame)
            return frame


def _raise_errors_of(frame: DataFrame) -> None:
    """Ask for the schema: Spark Connect checks the options of a DataFrame only when asked.

    In a flow function of a declarative pipeline, Spark forbids the question, and asks it itself
    when the function has returned.
    """
    try:
        _ = frame.schema
    # The class of the error differs between Spark's versions; its text does not.
    except Exception as error:
        if _IN_FLOW_FUNCTION not in str(error):
            raise


def replay_options(
    checkpoint: str | os.PathLike[str], batches: int | Iterable[int], source: int | str | None
) -> dict[str, str]:
    """The options of a replay.

    Raises:
        TypeError: if a value has the wrong type.
        ValueError: if there are too many batches.
    """
    replayed = {"replayCheckpoint": os.fspath(checkpoint), "replayBatches": _numbers(batches)}
    return replayed if source is None else {**replayed, "replaySource": str(source)}


def _numbers(batches: int | Iterable[int]) -> str:
    """Batch numbers as text for the option, such as ``3,4,7`` or ``120-124``."""
    if isinstance(batches, range) and batches.step == 1 and batches:
        return f"{batches[0]}-{batches[-1]}"  # the connector refuses too many
    given = batches if isinstance(batches, Iterable) else (batches,)
    numbers = list(islice(given, _MOST_BATCHES + 1))
    if len(numbers) > _MOST_BATCHES:
        raise ValueError(f"batches has more than {_MOST_BATCHES:,} numbers: replay fewer")
    return ",".join(map(str, sorted(set(map(operator.index, numbers)))))


def _one_or_several(name: str, given: object) -> str | tuple[str, ...] | None:
    """One text as it is, and several as a tuple, which cannot change.

    Raises:
        TypeError: for anything else than texts.
        ValueError: if one of several contains a comma, which would make it two.
    """
    require(name, given, str, Sequence, ABSENT)
    if given is None or isinstance(given, str):
        return given
    several = tuple(cast("Sequence[str]", given))
    for text in several:
        require(f"each of {name}", text, str)
        if "," in text:
            raise ValueError(f"{name} has the entry {text!r} with a comma: write an entry for each")
    return several


def _joined(given: str | Sequence[str] | None) -> str | None:
    return given if given is None or isinstance(given, str) else ",".join(given)
