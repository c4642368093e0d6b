"""The fields of a source: checks of their types, and the options that they set."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from datetime import timedelta
from typing import TYPE_CHECKING, Literal

from spark_kinesis._options.consumers import EnhancedFanOut
from spark_kinesis._options.mapping import SparkOptions
from spark_kinesis._options.position_maps import position_option, source_position
from spark_kinesis._options.streams import require_one, require_streams, streams_option
from spark_kinesis._options.values import ABSENT, duration, present, require, require_word, text

if TYPE_CHECKING:
    from .source import KinesisSource

_NUMBERS = (
    "max_records_per_trigger",
    "max_bytes_per_trigger",
    "min_partitions",
    "max_partitions",
    "max_records_per_fetch",
    "fetch_buffer_size",
    "fetch_spill_size",
)
_DURATIONS = ("min_fetch_period", "idle_fetch_period", "shard_discovery_interval")
_SWITCHES = ("fail_on_data_loss", "deaggregate", "allow_stream_removal")


def checked(source: KinesisSource) -> Mapping[str, object]:
    """Check the types of the fields.

    Returns:
        The fields that have another form in the source: streams and positions.

    Raises:
        TypeError: as ``KinesisSource``.
        ValueError: as ``KinesisSource``.
    """
    require_one(source.stream_name, source.stream_arn)
    names = require_streams("stream_name", source.stream_name)
    arns = require_streams("stream_arn", source.stream_arn)
    for fields, kind in ((_NUMBERS, int), (_DURATIONS, timedelta), (_SWITCHES, bool)):
        for name in fields:
            require(name, getattr(source, name), kind, ABSENT)
    require("consumer", source.consumer, EnhancedFanOut, ABSENT)
    _require_limit("max_shard_skew", source.max_shard_skew, Literal["none"])
    _require_limit("retry_timeout", source.retry_timeout, Literal["unlimited"])
    start = source_position("starting_position", source.starting_position)
    end = source_position("ending_position", source.ending_position)
    streams = _listed(names, arns)
    position_option("ending_position", end, streams)
    position_option("starting_position", start, streams)
    return {
        "stream_name": names,
        "stream_arn": arns,
        "starting_position": start,
        "ending_position": end,
    }


def _require_limit(name: str, value: object, words: object) -> None:
    """Refuse a value that is neither a duration nor one of the words nor ``None``."""
    require(name, value, timedelta, str, ABSENT)
    if isinstance(value, str):
        require_word(name, value, words)


def _limit(name: str, value: timedelta | str | None) -> str | None:
    return value if isinstance(value, str) else duration(name, value)


def options(source: KinesisSource, access: Mapping[str, str | None]) -> SparkOptions:
    """The options that the fields set.

    Args:
        source: the source.
        access: those of the fields that it shares with the sink.

    Raises:
        ValueError: as ``KinesisSource.options``.
    """
    given = {
        "streamName": streams_option(source.stream_name),
        "streamArn": streams_option(source.stream_arn),
        **access,
        **_positions(source),
        "allowStreamRemoval": text(source.allow_stream_removal),
        "maxRecordsPerTrigger": text(source.max_records_per_trigger),
        "maxBytesPerTrigger": text(source.max_bytes_per_trigger),
        "minPartitions": text(source.min_partitions),
        "maxPartitions": text(source.max_partitions),
        "maxShardSkew": _limit("max_shard_skew", source.max_shard_skew),
        "failOnDataLoss": text(source.fail_on_data_loss),
        "deaggregate": text(source.deaggregate),
        **({} if source.consumer is None else source.consumer.options()),
        **_fetching(source),
    }
    return SparkOptions(present(given))


def _positions(source: KinesisSource) -> dict[str, str | None]:
    streams = _listed(source.stream_name, source.stream_arn)
    start = source.starting_position
    return {
        "startingPosition": position_option("starting_position", start, streams),
        "endingPosition": position_option("ending_position", source.ending_position, streams),
    }


def _fetching(source: KinesisSource) -> dict[str, str | None]:
    interval = source.shard_discovery_interval
    return {
        "maxRecordsPerFetch": text(source.max_records_per_fetch),
        "minFetchPeriod": duration("min_fetch_period", source.min_fetch_period),
        "idleFetchPeriod": duration("idle_fetch_period", source.idle_fetch_period),
        "fetchBufferSize": text(source.fetch_buffer_size),
        "fetchSpillSize": text(source.fetch_spill_size),
        "shardDiscoveryInterval": duration("shard_discovery_interval", interval),
        "retryTimeout": _limit("retry_timeout", source.retry_timeout),
    }


def _listed(name: str | Sequence[str] | None, arn: str | Sequence[str] | None) -> tuple[str, ...]:
    named = name if arn is None else arn
    return (named,) if isinstance(named, str) else tuple(named or ())
