"""Outcomes: the values of payloads, and the reasons why there are none."""

from __future__ import annotations

from functools import reduce
from operator import and_
from typing import TYPE_CHECKING

from pyspark.sql import functions as fn
from pyspark.sql.types import ArrayType, MapType, StringType, StructType

if TYPE_CHECKING:
    from collections.abc import Callable

    from pyspark.sql import Column, SparkSession
    from pyspark.sql.types import DataType

_CATALOG = "kinesis_payloads"  # Spark prefers a catalog to a database of the same name
_SETTING = f"spark.sql.catalog.{_CATALOG}"
_FUNCTIONS = "sparkkinesis.spark.KinesisFunctions"
# Where `from_json` puts an object that does not fit the schema.
MISFIT = "__spark_kinesis_misfit"
TEXT = StringType()
_FIRST_SECOND, _LAST_SECOND = -62_135_596_800, 253_402_300_799  # of the years 1 and 9999


def register(spark: SparkSession) -> None:
    """Make the functions of the jar available to a session, as ``kinesis_payloads.inflate`` etc.

    It sets ``spark.sql.catalog.kinesis_payloads``. A program in SQL can do the same with ``SET``.
    If the setting is there already, the function changes nothing.

    Args:
        spark: a classic or a Spark Connect session, with the connector's jar.

    Raises:
        ValueError: if the session has another catalog named ``kinesis_payloads``.
    """
    found = spark.conf.get(_SETTING, None)
    if found == _FUNCTIONS:
        return  # a pipeline's definition may not change a setting
    if found is not None:
        raise ValueError(
            f"{_SETTING} is {found}, so the functions of {_FUNCTIONS} cannot have the name "
            f"{_CATALOG!r}. Give the other catalog another name"
        )
    spark.conf.set(_SETTING, _FUNCTIONS)


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


def split(data: Column | str, max_bytes: int | None) -> Column:
    """An array of the ``value`` of each JSON object, as text, or of the ``reason``."""
    return call("split_json", data, *limit(max_bytes))


def objects(found: Column, schema: StructType) -> Column:
    """An array of ``text``, the ``fields`` that Spark finds in it, and the ``reason`` if none."""
    given = StructType([*schema.fields]).add(MISFIT, TEXT)
    options = {"columnNameOfCorruptRecord": MISFIT}

    def one(it: Column) -> Column:
        fields = fn.from_json(it["value"], given, options)
        return fn.struct(
            it["value"].alias("text"), fields.alias("fields"), it["reason"].alias("reason")
        )

    return fn.transform(found, one)


def misfit(it: Column) -> Column:
    return fn.when(it["fields"][MISFIT].isNotNull(), fn.lit("WRONG_TYPE"))


def lack(fields: Column, text: Column, schema: StructType) -> Column:
    """The reason if an object lacks what the schema demands."""
    return fn.coalesce(*_missing(fields, schema, ""), unknown(fields, text, schema))


def _missing(value: Column, kind: DataType, path: str) -> list[Column]:
    """The reasons if a value that is not null has a null where its type forbids it."""
    if isinstance(kind, StructType):
        return [
            reason
            for it in kind.fields
            for reason in _null(value[it.name], it.dataType, it.nullable, f"{path}.{it.name}")
        ]
    if isinstance(kind, MapType):
        value, kind = fn.map_values(value), ArrayType(kind.valueType, kind.valueContainsNull)
    if not isinstance(kind, ArrayType):
        return []
    element, nullable = kind.elementType, kind.containsNull
    if not _null(value, element, nullable, path):
        return []  # the type allows nulls everywhere
    found = fn.transform(value, lambda it: fn.coalesce(*_null(it, element, nullable, path)))
    return [fn.get(fn.filter(found, lambda it: it.isNotNull()), fn.lit(0))]


def _null(value: Column, kind: DataType, nullable: bool, path: str) -> list[Column]:
    """The reasons if a value is null although it must not be, or contains such a null."""
    name = path.removeprefix(".")
    absent = [] if nullable else [fn.when(value.isNull(), fn.lit(f"MISSING: {name}"))]
    return [*absent, *(fn.when(value.isNotNull(), it) for it in _missing(value, kind, path))]


def unknown(fields: Column, text: Column, schema: StructType) -> Column:
    """The reason if an object has no field of the schema, not even one that is null."""
    is_empty = reduce(and_, (fields[name].isNull() for name in schema.names))
    names = fn.array(*map(fn.lit, schema.names))
    found = fn.json_object_keys(fn.coalesce(text, fn.lit("{}")))
    is_known = fn.arrays_overlap(found, names)
    # `json_object_keys` returns null for an object that contains NaN, which `from_json` accepts.
    is_foreign = is_known.isNull() | ~is_known
    return fn.when(is_empty & is_foreign, fn.lit("NO_KNOWN_FIELD"))


def text_at(it: Column, *paths: str) -> Column:
    return fn.coalesce(*(fn.get_json_object(it["text"], path) for path in paths))


def instant(number: Column, per_second: int) -> Column:
    """A time from a number since 1970; null if it is not in the years 1 to 9999.

    Args:
        number: long or double.
        per_second: 1 for seconds, 1,000 for milliseconds, 1,000,000 for microseconds.
    """
    micros = (number * (1_000_000 // per_second)).cast("long")
    is_time = number.between(_FIRST_SECOND * per_second, _LAST_SECOND * per_second)
    return fn.when(is_time, fn.timestamp_micros(micros))


def no_time(given: Column, time: Column) -> Column:
    """The reason if a producer has given a time that cannot be read."""
    return fn.when(given.isNotNull() & time.isNull(), fn.lit("WRONG_TYPE: the time"))


def once(value: Column, use: Callable[[Column], Column]) -> Column:
    """``use(value)``, with the value computed once."""
    return fn.transform(fn.array(value), use)[0]


def call(name: str, data: Column | str, *others: Column) -> Column:
    return fn.call_function(f"{_CATALOG}.{name}", column(data), *others)


def limit(max_bytes: int | None) -> list[Column]:
    """The argument ``maxBytes`` of a function of the jar, if it is given."""
    return [] if max_bytes is None else [fn.lit(max_bytes)]


def column(given: Column | str) -> Column:
    return fn.col(given) if isinstance(given, str) else given


def struct_type(schema: StructType | str) -> StructType:
    """The fields of a schema.

    Raises:
        ValueError: if it has no field.
    """
    if not isinstance(schema, StructType):
        from pyspark.sql import SparkSession  # noqa: PLC0415 differs between classic and Connect

        schema = SparkSession.active().createDataFrame([], schema).schema
    if not schema.fields:
        raise ValueError("the schema has no field. Name at least one field of the payload")
    return schema


def texts_of(*names: str) -> StructType:
    return reduce(lambda found, name: found.add(name, TEXT), names, StructType())
