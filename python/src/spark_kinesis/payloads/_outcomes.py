"""Outcomes: the values of payloads, and the reasons why there are none."""

from __future__ import annotations

from functools import reduce
from operator import and_
from typing import TYPE_CHECKING

from pyspark.sql import functions as fn
from pyspark.sql.types import StringType, StructType

if TYPE_CHECKING:
    from collections.abc import Callable

    from pyspark.sql import Column, SparkSession

_CATALOG = "spark.sql.catalog.kinesis"
_FUNCTIONS = "sparkkinesis.spark.KinesisFunctions"
MISFIT = "misfit"  # where `from_json` puts an object that does not fit the schema
TEXT = StringType()
_MOST_SECONDS, _MOST_MILLIS = 1e11, 1e14  # in the year 5138


def register(spark: SparkSession) -> None:
    """Make the functions of the jar available to a session, as ``kinesis.inflate`` and so on.

    It sets ``spark.sql.catalog.kinesis``. A program in SQL can do the same with ``SET``.

    Args:
        spark: a classic or a Spark Connect session, with the connector's jar.

    Raises:
        ValueError: if the session has another catalog named ``kinesis``.
    """
    found = spark.conf.get(_CATALOG, None)
    if found not in (None, _FUNCTIONS):
        raise ValueError(
            f"{_CATALOG} is {found}, so the functions of {_FUNCTIONS} cannot have the name "
            "'kinesis'. Give the other catalog another name"
        )
    spark.conf.set(_CATALOG, _FUNCTIONS)


def or_fail(outcomes: Column, record: Column | str = "sequenceNumber") -> Column:
    """Take the values out of outcomes, and fail the query if there is a reason instead.

    Args:
        outcomes: what another function of this module returned.
        record: a column that names the record in the error.

    Returns:
        An array of the values. Messages with the reason ``CONTROL`` are left out.
    """
    name = column(record).cast("string")

    def is_data(it: Column) -> Column:
        return ~fn.coalesce(it["reason"], fn.lit("")).startswith("CONTROL")

    def value(it: Column) -> Column:
        said = fn.concat(it["reason"], fn.lit(", record "), fn.coalesce(name, fn.lit("unknown")))
        error = fn.raise_error(fn.concat(fn.lit("cannot decode a payload: "), said))
        return fn.when(it["reason"].isNull(), it["value"]).otherwise(error)

    return fn.transform(fn.filter(outcomes, is_data), value)


def outcome_of(value: Column, *reasons: Column) -> Column:
    """A struct of the value and the first reason that is not null, which makes the value null."""
    reason = fn.coalesce(*reasons).cast("string")
    return fn.struct(fn.when(reason.isNull(), value).alias("value"), reason.alias("reason"))


def failed(reason: Column) -> Column:
    return fn.array(fn.struct(fn.lit(None).alias("value"), reason.alias("reason")))


def parsed(texts: Column, schema: StructType) -> Column:
    """An array of ``text``, the ``fields`` that Spark finds in it, and the ``reason`` if none."""
    given = StructType([*schema.fields]).add(MISFIT, TEXT)
    options = {"columnNameOfCorruptRecord": MISFIT}

    def parsed(it: Column) -> Column:
        fields = fn.from_json(it["value"], given, options)
        return fn.struct(
            it["value"].alias("text"), fields.alias("fields"), it["reason"].alias("reason")
        )

    return fn.transform(texts, parsed)


def misfit(it: Column) -> Column:
    return fn.when(it["fields"][MISFIT].isNotNull(), fn.lit("WRONG_TYPE"))


def lack(fields: Column, text: Column, schema: StructType) -> Column:
    """The reason if an object has not what the schema demands."""
    missing = [
        fn.when(fields[it.name].isNull(), fn.lit(f"MISSING: {it.name}"))
        for it in schema.fields
        if not it.nullable
    ]
    return fn.coalesce(*missing, unknown(fields, text, schema))


def unknown(fields: Column, text: Column, schema: StructType) -> Column:
    """The reason if an object has no field of the schema, not even one that is null."""
    is_empty = reduce(and_, (fields[name].isNull() for name in schema.names))
    names = fn.array(*map(fn.lit, schema.names))
    found = fn.json_object_keys(fn.coalesce(text, fn.lit("{}")))
    return fn.when(is_empty & ~fn.arrays_overlap(found, names), fn.lit("NO_KNOWN_FIELD"))


def text_at(it: Column, *paths: str) -> Column:
    return fn.coalesce(*(fn.get_json_object(it["text"], path) for path in paths))


def instant(number: Column) -> Column:
    """A time from the seconds, milliseconds or microseconds since 1970: its size tells which."""
    unit = fn.when(number < _MOST_SECONDS, 1_000_000).when(number < _MOST_MILLIS, 1_000)
    return fn.timestamp_micros((number * unit.otherwise(1)).cast("long"))


def once(value: Column, use: Callable[[Column], Column]) -> Column:
    """``use(value)``, with the value computed once."""
    return fn.transform(fn.array(value), use)[0]


def call(name: str, data: Column | str, *others: Column) -> Column:
    return fn.call_function(f"kinesis.{name}", column(data), *others)


def column(given: Column | str) -> Column:
    return fn.col(given) if isinstance(given, str) else given


def struct_type(schema: StructType | str) -> StructType:
    if isinstance(schema, StructType):
        return schema
    from pyspark.sql import SparkSession  # noqa: PLC0415 it differs between classic and Connect

    return SparkSession.active().createDataFrame([], schema).schema


def texts_of(*names: str) -> StructType:
    return reduce(lambda found, name: found.add(name, TEXT), names, StructType())
