"""Changes of database tables: what DynamoDB, DMS, Debezium and Maxwell write."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING

from pyspark.sql import functions as fn
from pyspark.sql.types import DoubleType, LongType, StructType

from ._outcomes import (
    TEXT,
    call,
    instant,
    lack,
    misfit,
    no_time,
    objects,
    once,
    outcome_of,
    split,
    struct_type,
    text_at,
    texts_of,
    unknown,
)

if TYPE_CHECKING:
    from collections.abc import Callable, Mapping

    from pyspark.sql import Column

# The units in which DynamoDB may write a time: its size tells which. These are in the year 5138.
_MOST_SECONDS, _MOST_MILLIS = 1e11, 1e14


def dynamodb(data: Column | str, schema: StructType | str, max_bytes: int | None = None) -> Column:
    """Decode changes of a DynamoDB table that streams to Kinesis.

    Sets become arrays. A binary attribute needs a field of the type ``BINARY``.

    Args:
        data: binary or string.
        schema: the attributes of an item.
        max_bytes: see ``inflate``.

    Returns:
        An array of one outcome per change, see ``debezium``. Reasons: also ``NOT_DYNAMODB``.
    """
    row = struct_type(schema)
    images = StructType().add("NewImage", row).add("OldImage", row)
    of_change = images.add("ApproximateCreationDateTime", DoubleType())
    envelope = texts_of("eventName", "tableName").add("dynamodb", of_change)

    def plain(it: Column) -> Column:
        return fn.when(it["reason"].isNull(), call("dynamodb_json", it["value"])).otherwise(it)

    def change(it: Column) -> _Change:
        fields, images = it["fields"], it["fields"]["dynamodb"]
        time = images["ApproximateCreationDateTime"]
        words = {"INSERT": "insert", "MODIFY": "update", "REMOVE": "delete"}
        return _Change(
            operation=_translated(fields["eventName"], words),
            control=fn.lit(None),
            table=fields["tableName"],
            time=time,
            at=(
                fn.when(time < _MOST_SECONDS, instant(time, per_second=1))
                .when(time < _MOST_MILLIS, instant(time, per_second=1_000))
                .otherwise(instant(time, per_second=1_000_000))
            ),
            before=images["OldImage"],
            after=images["NewImage"],
            texts=[text_at(it, "$.dynamodb.OldImage"), text_at(it, "$.dynamodb.NewImage")],
        )

    found = fn.transform(split(data, max_bytes), plain)
    return _changes(objects(found, envelope), row, "DYNAMODB", change)


def dms(data: Column | str, schema: StructType | str, max_bytes: int | None = None) -> Column:
    """Decode changes of database tables from the AWS Database Migration Service.

    ``before`` of an update needs the task's setting ``BeforeImageSettings``.

    Args:
        data: binary or string.
        schema: the columns of the table.
        max_bytes: see ``inflate``.

    Returns:
        An array of one outcome per change, see ``debezium``. Reasons: also ``NOT_DMS``.
    """
    row = struct_type(schema)
    about = texts_of("timestamp", "record-type", "operation", "schema-name", "table-name")
    envelope = StructType().add("data", row).add("before-image", row).add("metadata", about)

    def change(it: Column) -> _Change:
        fields, said = it["fields"], it["fields"]["metadata"]
        words = {"load": "snapshot", "insert": "insert", "update": "update", "delete": "delete"}
        deletes = said["operation"] == "delete"
        return _Change(
            operation=_translated(said["operation"], words),
            control=fn.when(said["record-type"] == "control", said["operation"]),
            table=_table(said["schema-name"], said["table-name"]),
            time=said["timestamp"],
            at=fn.try_to_timestamp(said["timestamp"]),  # a cast can fail the query
            before=fn.when(deletes, fields["data"]).otherwise(fields["before-image"]),
            after=fn.when(~deletes, fields["data"]),
            texts=[text_at(it, "$.before-image", "$.data"), text_at(it, "$.data")],
        )

    return _changes(objects(split(data, max_bytes), envelope), row, "DMS", change)


def debezium(data: Column | str, schema: StructType | str, max_bytes: int | None = None) -> Column:
    """Decode changes of database tables from Debezium, with or without the envelope's schema.

    Args:
        data: binary or string.
        schema: the columns of the table, as Debezium writes them in JSON.
        max_bytes: see ``inflate``.

    Returns:
        An array of one outcome per change. The value has the fields ``operation`` (``insert``,
        ``update``, ``delete``, ``truncate`` or ``snapshot``), ``table`` (with its schema or
        database, if the producer names it), ``at`` (the time of the change), ``before`` and
        ``after`` (the row, or null). Reasons: those of ``json``, ``CONTROL``, ``NO_ROW`` and
        ``NOT_DEBEZIUM``.
    """
    row = struct_type(schema)
    source = texts_of("db", "schema", "table").add("ts_ms", LongType())
    change_of = StructType().add("before", row).add("after", row).add("source", source)
    change_of = change_of.add("ts_ms", LongType())
    for name in ("op", "status", "ddl"):
        change_of = change_of.add(name, TEXT)
    envelope = StructType([*change_of.fields]).add("payload", change_of)

    def change(it: Column) -> _Change:
        top = it["fields"]
        whole = fn.struct(*(top[name].alias(name) for name in change_of.names))
        fields = fn.coalesce(top["payload"], whole)
        words = {"c": "insert", "u": "update", "d": "delete", "r": "snapshot", "t": "truncate"}
        origin, op = fields["source"], fields["op"]
        time = fn.coalesce(origin["ts_ms"], fields["ts_ms"])
        keys = fn.json_object_keys(text_at(it, "$.payload", "$"))
        counts = fn.array_contains(keys, "event_count")  # rows may have a column `status` as well
        control = (
            fn.when(op == "m", fn.lit("message"))
            .when(op.isNotNull(), fn.lit(None))
            .when(fields["status"].isin("BEGIN", "END") & counts, fn.lit("transaction"))
            .when(fields["ddl"].isNotNull() & origin.isNotNull(), fn.lit("schema change"))
            .when(fields["ts_ms"].isNotNull() & (fn.size(keys) == 1), fn.lit("heartbeat"))
        )
        return _Change(
            operation=_translated(op, words),
            control=control,
            table=_table(fn.coalesce(origin["schema"], origin["db"]), origin["table"]),
            time=time,
            at=instant(time, per_second=1_000),
            before=fields["before"],
            after=fields["after"],
            texts=[
                text_at(it, "$.payload.before", "$.before"),
                text_at(it, "$.payload.after", "$.after"),
            ],
        )

    def text(it: Column) -> Column:
        tombstone = fn.when(it["reason"] == "EMPTY", fn.lit("CONTROL: tombstone"))
        reason = fn.coalesce(tombstone, it["reason"])
        return fn.struct(it["value"].alias("value"), reason.alias("reason"))

    found = fn.transform(split(data, max_bytes), text)
    return _changes(objects(found, envelope), row, "DEBEZIUM", change)


def maxwell(data: Column | str, schema: StructType | str, max_bytes: int | None = None) -> Column:
    """Decode changes of MySQL tables from Maxwell.

    Args:
        data: binary or string.
        schema: the columns of the table.
        max_bytes: see ``inflate``.

    Returns:
        An array of one outcome per change, see ``debezium``. ``before`` of an update is the whole
        row, although Maxwell sends only what has changed. Reasons: also ``NOT_MAXWELL``.
    """
    row = struct_type(schema)
    envelope = texts_of("database", "table", "type").add("ts", LongType())
    envelope = envelope.add("data", row).add("old", row)
    others = r"^(bootstrap-(start|complete)|(database|table)-(create|alter|drop))$"

    def change(it: Column) -> _Change:
        fields, kind = it["fields"], it["fields"]["type"]
        words = {name: name for name in ("insert", "update", "delete")}

        def old(names: Column) -> Column:
            changed = [fn.array_contains(names, name) for name in row.names]
            pairs = zip(row.names, changed, strict=True)
            whole = fn.struct(
                *(
                    fn.when(was, fields["old"][name]).otherwise(fields["data"][name]).alias(name)
                    for name, was in pairs
                )
            )
            return fn.when(names.isNotNull(), whole)  # without `old`, the row before is unknown

        before = once(fn.json_object_keys(text_at(it, "$.old")), old)
        return _Change(
            operation=_translated(kind, {**words, "bootstrap-insert": "snapshot"}),
            control=fn.when(kind.rlike(others), kind),
            table=_table(fields["database"], fields["table"]),
            time=fields["ts"],
            at=instant(fields["ts"], per_second=1),
            before=fn.when(kind == "delete", fields["data"]).when(kind == "update", before),
            after=fn.when(kind != "delete", fields["data"]),
            texts=[text_at(it, "$.data"), text_at(it, "$.data")],
        )

    return _changes(objects(split(data, max_bytes), envelope), row, "MAXWELL", change)


@dataclass(frozen=True, kw_only=True)
class _Change:
    """What a message says about the row of a table, as columns.

    Attributes:
        operation: null if the message is not about a row.
        control: what the message is about, if it is about no row.
        time: as the producer wrote it.
        texts: the JSON of ``before`` and ``after``.
    """

    operation: Column
    control: Column
    table: Column
    time: Column
    at: Column
    before: Column
    after: Column
    texts: list[Column]


def _changes(
    messages: Column, row: StructType, name: str, read: Callable[[Column], _Change]
) -> Column:
    def outcome(it: Column) -> Column:
        change = read(it)
        names = ("operation", "table", "at", "before", "after")
        value = fn.struct(*(getattr(change, name).alias(name) for name in names))
        before, after = change.before, change.after
        lost = fn.when(change.operation == "delete", before.isNull()).when(
            change.operation != "truncate", after.isNull()
        )
        return outcome_of(
            value,
            it["reason"],
            fn.concat(fn.lit("CONTROL: "), change.control),
            misfit(it),
            fn.when(change.operation.isNull(), fn.lit(f"NOT_{name}")),
            no_time(change.time, change.at),
            fn.when(lost, fn.lit("NO_ROW")),
            fn.when(before.isNotNull(), unknown(before, change.texts[0], row)),
            fn.when(after.isNotNull(), lack(after, change.texts[1], row)),
        )

    return fn.transform(messages, outcome)


def _translated(word: Column, words: Mapping[str, str]) -> Column:
    pairs = [fn.lit(it) for pair in words.items() for it in pair]
    return fn.create_map(*pairs)[word]


def _table(schema: Column, table: Column) -> Column:
    return fn.when(table.isNotNull(), fn.concat_ws(".", fn.nullif(schema, fn.lit("")), table))
