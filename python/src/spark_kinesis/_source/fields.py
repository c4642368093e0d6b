"""The fields of a source that are no plain options, and the options that all fields set."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import TYPE_CHECKING

from spark_kinesis._options.consumers import EnhancedFanOut
from spark_kinesis._options.declared import texts
from spark_kinesis._options.mapping import SparkOptions
from spark_kinesis._options.position_maps import position_option, source_position
from spark_kinesis._options.streams import require_one, require_streams, streams_option
from spark_kinesis._options.values import ABSENT, present, require

if TYPE_CHECKING:
    from .source import KinesisSource


def checked(source: KinesisSource) -> Mapping[str, object]:
    """Check the types of the fields that are no plain options.

    Returns:
        The fields that have another form in the source: streams and positions.

    Raises:
        TypeError: as ``KinesisSource``.
        ValueError: as ``KinesisSource``.
    """
    require_one(source.stream_name, source.stream_arn)
    names = require_streams("stream_name", source.stream_name)
    arns = require_streams("stream_arn", source.stream_arn)
    require("consumer", source.consumer, EnhancedFanOut, ABSENT)
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


def options(source: KinesisSource, access: Mapping[str, str | None]) -> SparkOptions:
    """The options that the fields set.

    Args:
        source: the source.
        access: those of the credentials, the role and the network.

    Raises:
        ValueError: as ``KinesisSource.options``.
    """
    given = {
        "streamName": streams_option(source.stream_name),
        "streamArn": streams_option(source.stream_arn),
        **access,
        **_positions(source),
        **({} if source.consumer is None else source.consumer.options()),
        **texts(source),
    }
    return SparkOptions(present(given))


def _positions(source: KinesisSource) -> dict[str, str | None]:
    streams = _listed(source.stream_name, source.stream_arn)
    start = source.starting_position
    return {
        "startingPosition": position_option("starting_position", start, streams),
        "endingPosition": position_option("ending_position", source.ending_position, streams),
    }


def _listed(name: str | Sequence[str] | None, arn: str | Sequence[str] | None) -> tuple[str, ...]:
    named = name if arn is None else arn
    return (named,) if isinstance(named, str) else tuple(named or ())
