"""The words of a sink's fields, checks of its fields, and the options that they set."""

from __future__ import annotations

from collections.abc import Mapping
from typing import TYPE_CHECKING, Literal

from spark_kinesis._options.declared import texts
from spark_kinesis._options.mapping import SparkOptions
from spark_kinesis._options.streams import require_at_most_one, require_stream
from spark_kinesis._options.values import present

if TYPE_CHECKING:
    from .sink import KinesisSink

Aggregation = Literal["none", "kpl"]
DeliveryGuarantee = Literal["at_least_once", "exactly_once"]
Ordering = Literal["none", "per_key"]
OnDeliveryTimeout = Literal["fail", "dead_letter"]

_SEVERAL = "add a column 'stream' to write each row to a stream of its own"


def check_stream(sink: KinesisSink) -> None:
    """Check the stream.

    Raises:
        TypeError: as ``KinesisSink``.
        ValueError: as ``KinesisSink``.
    """
    for name in ("stream_name", "stream_arn"):
        if getattr(sink, name) is not None:
            require_stream(name, getattr(sink, name), several=_SEVERAL)
    require_at_most_one(sink.stream_name, sink.stream_arn)


def options(sink: KinesisSink, access: Mapping[str, str | None]) -> SparkOptions:
    """The options that the fields set.

    Args:
        sink: the sink.
        access: those of the credentials, the role and the network.

    Raises:
        ValueError: as ``KinesisSink.options``.
    """
    stream = {"streamName": sink.stream_name, "streamArn": sink.stream_arn}
    return SparkOptions(present({**stream, **access, **texts(sink)}))
