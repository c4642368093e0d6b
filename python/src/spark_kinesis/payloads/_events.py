"""Compressed data, JSON, and JSON in the envelopes of EventBridge and CloudWatch Logs."""

from __future__ import annotations

from typing import TYPE_CHECKING

from pyspark.sql import functions as fn
from pyspark.sql.types import ArrayType, LongType, MapType, StructType, TimestampType

from ._outcomes import (
    MISFIT,
    TEXT,
    call,
    failed,
    instant,
    lack,
    limit,
    misfit,
    no_time,
    objects,
    outcome_of,
    split,
    struct_type,
    texts_of,
)

if TYPE_CHECKING:
    from pyspark.sql import Column


def inflate(data: Column | str, max_bytes: int | None = None) -> Column:
    """Decompress gzip, zlib, zstd or Snappy. The first bytes of the data name the format.

    Snappy has two containers: its framing format, and the blocks of snappy-java's
    ``SnappyOutputStream``. Snappy without a container cannot be recognised.

    Args:
        data: binary.
        max_bytes: the largest result in bytes; default: 64 MiB.

    Returns:
        An array of one outcome, whose value is binary. Reasons: ``NOT_COMPRESSED``, ``DAMAGED``
        and ``TOO_LARGE``.
    """
    return fn.array(call("inflate", data, *limit(max_bytes)))


def json(data: Column | str, schema: StructType | str, max_bytes: int | None = None) -> Column:
    """Decode JSON objects: one, several in a row, or one per line, as text or compressed.

    Args:
        data: binary or string.
        schema: the fields of an object.
        max_bytes: see ``inflate``.

    Returns:
        An array of one outcome per object. The value has the fields of the schema. Reasons:
        ``EMPTY``, ``NOT_UTF8``, ``NOT_JSON``, ``TOO_MANY``, ``WRONG_TYPE``, ``MISSING``,
        ``NO_KNOWN_FIELD``, and those of ``inflate`` for compressed data. After the first error in
        the syntax, the rest of a record is one outcome.
    """
    found = struct_type(schema)
    return fn.transform(
        objects(split(data, max_bytes), found),
        lambda it: outcome_of(
            it["fields"].dropFields(MISFIT),
            it["reason"],
            misfit(it),
            lack(it["fields"], it["text"], found),
        ),
    )


def event_bridge(
    data: Column | str, detail: StructType | str, max_bytes: int | None = None
) -> Column:
    """Decode events of Amazon EventBridge, whose rule has a stream as its target.

    A pipe of EventBridge sends what its source has, without this envelope: use ``json``.

    Args:
        data: binary or string.
        detail: the fields of ``detail``.
        max_bytes: see ``inflate``.

    Returns:
        An array of one outcome per event. The value has the fields ``id``, ``source``,
        ``detailType``, ``account``, ``region``, ``time``, ``resources`` and ``detail``. Reasons:
        those of ``json``, and ``NOT_EVENT_BRIDGE``.
    """
    found = struct_type(detail)
    names = {"id": "id", "source": "source", "detail-type": "detailType"}
    names.update({it: it for it in ("account", "region", "time", "resources", "detail")})
    envelope = texts_of("id", "source", "detail-type", "account", "region")
    envelope = envelope.add("time", TimestampType()).add("resources", ArrayType(TEXT))
    envelope = envelope.add("detail", found)

    def outcome(it: Column) -> Column:
        event = it["fields"]
        value = [event[sent].alias(name) for sent, name in names.items()]
        known = event["detail-type"].isNotNull() & event["detail"].isNotNull()
        text = fn.get_json_object(it["text"], "$.detail")
        return outcome_of(
            fn.struct(*value),
            it["reason"],
            misfit(it),
            fn.when(~known, fn.lit("NOT_EVENT_BRIDGE")),
            lack(event["detail"], text, found),
        )

    return fn.transform(objects(split(data, max_bytes), envelope), outcome)


def cloudwatch_logs(data: Column | str, max_bytes: int | None = None) -> Column:
    """Decode what a subscription filter of Amazon CloudWatch Logs sends: compressed log events.

    Args:
        data: binary.
        max_bytes: see ``inflate``.

    Returns:
        An array of one outcome per log event. The value has the fields ``owner``, ``logGroup``,
        ``logStream``, ``subscriptionFilters``, ``id``, ``timestamp``, ``message`` and
        ``extractedFields``. Reasons: those of ``json``, ``CONTROL`` and ``NOT_CLOUDWATCH_LOGS``.
    """
    of_event = texts_of("id", "message").add("timestamp", LongType())
    of_event = of_event.add("extractedFields", MapType(TEXT, TEXT))
    names = ["owner", "logGroup", "logStream", "subscriptionFilters"]
    envelope = texts_of("messageType", *names[:3]).add(names[3], ArrayType(TEXT))
    envelope = envelope.add("logEvents", ArrayType(of_event))

    def events(it: Column) -> Column:
        fields, kind = it["fields"], it["fields"]["messageType"]
        reason = fn.coalesce(
            it["reason"],
            fn.when(kind == "CONTROL_MESSAGE", fn.lit("CONTROL: health check")),
            misfit(it),
            fn.when(
                (kind != "DATA_MESSAGE") | kind.isNull() | fields["logEvents"].isNull(),
                fn.lit("NOT_CLOUDWATCH_LOGS"),
            ),
            fn.when(fn.size(fields["logEvents"]) == 0, fn.lit("CONTROL: no log events")),
        )

        def outcome(event: Column) -> Column:
            time = instant(event["timestamp"], per_second=1_000)
            value = fn.struct(
                *(fields[name].alias(name) for name in names),
                event["id"].alias("id"),
                time.alias("timestamp"),
                event["message"].alias("message"),
                event["extractedFields"].alias("extractedFields"),
            )
            return outcome_of(
                value,
                fn.when(event["message"].isNull(), fn.lit("MISSING: message")),
                no_time(event["timestamp"], time),
            )

        found = fn.transform(fields["logEvents"], outcome)
        return fn.when(reason.isNull(), found).otherwise(failed(reason))

    return fn.flatten(fn.transform(objects(split(data, max_bytes), envelope), events))
