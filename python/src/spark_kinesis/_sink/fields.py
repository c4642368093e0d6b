"""The fields of a sink: checks of their types, and the options that they set."""

from __future__ import annotations

import os
from collections.abc import Mapping
from datetime import timedelta
from typing import TYPE_CHECKING, Literal

from spark_kinesis._options.mapping import SparkOptions
from spark_kinesis._options.streams import require_at_most_one, require_stream
from spark_kinesis._options.values import ABSENT, duration, present, require, require_word, text

if TYPE_CHECKING:
    from .sink import KinesisSink

Aggregation = Literal["none", "kpl"]
DeliveryGuarantee = Literal["at_least_once", "exactly_once"]
Ordering = Literal["none", "per_key"]
OnDeliveryTimeout = Literal["fail", "dead_letter"]

_SEVERAL = "add a column 'stream' to write each row to a stream of its own"


def check(sink: KinesisSink) -> None:
    """Check the types of the fields.

    Raises:
        TypeError: as ``KinesisSink``.
        ValueError: as ``KinesisSink``.
    """
    for name in ("stream_name", "stream_arn"):
        if getattr(sink, name) is not None:
            require_stream(name, getattr(sink, name), several=_SEVERAL)
    require("order_by", sink.order_by, str, ABSENT)
    require("write_id", sink.write_id, str, ABSENT)
    require_at_most_one(sink.stream_name, sink.stream_arn)
    for name in ("max_in_flight_requests", "max_request_records", "max_request_bytes"):
        require(name, getattr(sink, name), int, ABSENT)
    for name in ("max_buffered_bytes", "max_aggregate_bytes", "max_aggregate_records"):
        require(name, getattr(sink, name), int, ABSENT)
    for name in ("delivery_timeout", "request_timeout", "linger"):
        require(name, getattr(sink, name), timedelta, ABSENT)
    require("dead_letter_path", sink.dead_letter_path, str, os.PathLike, ABSENT)
    require_word("aggregation", sink.aggregation, Aggregation)
    require_word("delivery_guarantee", sink.delivery_guarantee, DeliveryGuarantee)
    require_word("ordering", sink.ordering, Ordering)
    require_word("on_delivery_timeout", sink.on_delivery_timeout, OnDeliveryTimeout)


def options(sink: KinesisSink, access: Mapping[str, str | None]) -> SparkOptions:
    """The options that the fields set.

    Args:
        sink: the sink.
        access: those of the fields that it shares with the source.

    Raises:
        ValueError: as ``KinesisSink.options``.
    """
    path = None if sink.dead_letter_path is None else os.fspath(sink.dead_letter_path)
    given = {
        "streamName": sink.stream_name,
        "streamArn": sink.stream_arn,
        **access,
        "deliveryGuarantee": _camel_case(sink.delivery_guarantee),
        "writeId": sink.write_id,
        "deliveryTimeout": duration("delivery_timeout", sink.delivery_timeout),
        "requestTimeout": duration("request_timeout", sink.request_timeout),
        "maxInFlightRequests": text(sink.max_in_flight_requests),
        "maxRequestRecords": text(sink.max_request_records),
        "maxRequestBytes": text(sink.max_request_bytes),
        "maxBufferedBytes": text(sink.max_buffered_bytes),
        "linger": duration("linger", sink.linger),
        "aggregation": sink.aggregation,
        "maxAggregateBytes": text(sink.max_aggregate_bytes),
        "maxAggregateRecords": text(sink.max_aggregate_records),
        "ordering": _camel_case(sink.ordering),
        "orderBy": sink.order_by,
        "deadLetterPath": path,
        "onDeliveryTimeout": _camel_case(sink.on_delivery_timeout),
    }
    return SparkOptions(present(given))


def _camel_case(word: str | None) -> str | None:
    first, *others = (word or "").split("_")
    return None if word is None else first + "".join(other.title() for other in others)
