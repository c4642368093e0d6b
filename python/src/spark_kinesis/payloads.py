"""What producers put into ``data``, as columns that say which payloads could not be decoded.

A function here takes a column of payloads and returns an array of outcomes, because one record may
contain several items. An outcome is a struct of ``value`` and ``reason``: a decoded item, or why
there is none. ``inline`` of ``pyspark.sql.functions`` makes a row of each outcome::

    rows = events.select("sequenceNumber", inline(payloads.json("data", "id LONG, total DOUBLE")))

``reason`` begins with a fixed word, such as ``NOT_JSON``. ``or_fail`` fails the query instead.

The functions use functions of the jar. ``register`` makes them available in a session.

A schema is a ``StructType``, or DDL such as ``"id LONG NOT NULL, total DOUBLE"``. If a field is
``NOT NULL``, also in a struct, an array or a map, an item without it has the reason ``MISSING``.
DDL needs an active session.
"""

from __future__ import annotations

from functools import reduce
from operator import and_
from typing import TYPE_CHECKING

from pyspark.sql import functions as fn
from pyspark.sql.types import ArrayType, DoubleType, MapType, StringType, StructType

if TYPE_CHECKING:
    from collections.abc import Callable, Mapping

    from pyspark.sql import Column, SparkSession
    from pyspark.sql.types import DataType

__all__ = ["avro", "dynamodb", "glue", "inflate", "json", "or_fail", "register"]

_CATALOG = "kinesis_payloads"  # Spark prefers a catalog to a database of the same name
_SETTING = f"spark.sql.catalog.{_CATALOG}"
_FUNCTIONS = "sparkkinesis.spark.KinesisFunctions"
# Where `from_json` puts an object that does not fit the schema.
_MISFIT = "__spark_kinesis_misfit"
_HEADER = 18  # bytes of the registry's header
_LONGEST = 2**31 - 1


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
        An array of the values.
    """
    name = _column(record).cast("string")

    def value(it: Column) -> Column:
        said = fn.concat(it["reason"], fn.lit(", record "), fn.coalesce(name, fn.lit("unknown")))
        error = fn.raise_error(fn.concat(fn.lit("cannot decode a payload: "), said))
        return fn.when(it["reason"].isNull(), it["value"]).otherwise(error)

    return fn.transform(outcomes, value)


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

    Raises:
        ValueError: if the schema has no field.
    """
    return _decoded(_call("split_json", data, *_limit(max_bytes)), _struct_type(schema))


def dynamodb(data: Column | str, schema: StructType | str, max_bytes: int | None = None) -> Column:
    """Decode changes of a DynamoDB table that streams to Kinesis.

    Sets become arrays. A binary attribute needs a field of the type ``BINARY``.

    Args:
        data: binary or string.
        schema: the attributes of an item.
        max_bytes: see ``inflate``.

    Returns:
        An array of one outcome per change. The value has the fields ``eventName``, ``tableName``
        and ``dynamodb``, a struct of ``NewImage``, ``OldImage``, ``ApproximateCreationDateTime``
        and ``ApproximateCreationDateTimePrecision``. Reasons: those of ``json``, and
        ``NOT_DYNAMODB``.
    """
    row, text = _struct_type(schema), StringType()
    change = (
        StructType()
        .add("NewImage", row)
        .add("OldImage", row)
        .add("ApproximateCreationDateTime", DoubleType())
        .add("ApproximateCreationDateTimePrecision", text)
    )
    record = StructType().add("eventName", text, nullable=False).add("tableName", text)
    record = record.add("dynamodb", change, nullable=False)

    def plain(it: Column) -> Column:
        return fn.when(it["reason"].isNull(), _call("dynamodb_json", it["value"])).otherwise(it)

    found = _call("split_json", data, *_limit(max_bytes))
    return _decoded(fn.transform(found, plain), record)


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
    return fn.array(_call("inflate", data, *_limit(max_bytes)))


def avro(data: Column | str, schema: str, reader: str | None = None) -> Column:
    """Decode a value in Avro's binary encoding. Needs Spark's module ``spark-avro``.

    Unlike ``from_avro`` it takes only data that are exactly one value of the schema.

    Args:
        data: binary.
        schema: the schema with which the value was written, in JSON.
        reader: the schema that the value is converted to, in JSON; default: ``schema``.

    Returns:
        An array of one outcome. The value has the type of the reader's schema. Reasons:
        ``NO_DATA``, ``NOT_AVRO``, and ``INCOMPATIBLE`` if ``reader`` cannot read the value.
    """
    from pyspark.sql.avro.functions import from_avro  # noqa: PLC0415 exists only with a session

    schemas = [schema, reader or schema]
    options = {"mode": "FAILFAST", "avroSchema": schemas[1]}
    found = from_avro(_column(data), schema, options)
    problem = _call("check_avro", data, *map(fn.lit, schemas))
    return fn.transform(fn.array(problem), lambda reason: _outcome_of(found, reason))


def glue(
    data: Column | str,
    schemas: Mapping[str, str],
    decode: Callable[[Column, str], Column],
    max_bytes: int | None = None,
) -> Column:
    """Decode records with the header of the AWS Glue Schema Registry.

    Args:
        data: binary: a header of 18 bytes, and a payload that may be compressed with zlib.
        schemas: the definition of each version of the schema that the query knows, by the UUID of
            the version, as ``GetSchemaVersion`` of AWS Glue returns it.
        decode: takes the payload and the definition of its version, and returns outcomes, such as
            ``lambda payload, schema: payloads.avro(payload, schema, reader=latest)``. All versions
            must give the same type.
        max_bytes: see ``inflate``. It is the limit of the payload in the record. Give ``decode``
            its own.

    Returns:
        The outcomes of ``decode``. Reasons: also ``NO_DATA``, ``NO_REGISTRY_HEADER``, and
        ``UNKNOWN_SCHEMA_VERSION`` with the UUID.

    Raises:
        ValueError: if there is no schema.
    """
    if not schemas:
        raise ValueError("schemas is empty: the query needs at least one version of the schema")
    whole = _column(data)
    header, uuid = fn.hex(fn.substring(whole, 1, 2)), fn.lower(fn.hex(fn.substring(whole, 3, 16)))
    groups = "(.{8})(.{4})(.{4})(.{4})(.{12})"
    version = fn.regexp_replace(uuid, groups, "$1-$2-$3-$4-$5")
    payload = fn.substring(whole, _HEADER + 1, _LONGEST)
    plain = fn.struct(payload.alias("value"), fn.lit(None).cast("string").alias("reason"))
    none = fn.when(whole.isNull(), fn.lit("NO_DATA")).otherwise(fn.lit("NO_REGISTRY_HEADER"))
    is_long = fn.length(whole) >= _HEADER
    found = (
        fn.when(is_long & (header == "0300"), plain)
        .when(is_long & (header == "0305"), _call("inflate", payload, *_limit(max_bytes)))
        .otherwise(fn.struct(fn.lit(None).alias("value"), none.alias("reason")))
    )

    def outcomes(it: Column) -> Column:
        cases = fn.when(it["reason"].isNotNull(), _failed(it["reason"]))
        for known, definition in schemas.items():
            cases = cases.when(version == known.lower(), decode(it["value"], definition))
        return cases.otherwise(_failed(fn.concat(fn.lit("UNKNOWN_SCHEMA_VERSION: "), version)))

    return fn.transform(fn.array(found), outcomes)[0]  # computes `found` once


def _decoded(objects: Column, schema: StructType) -> Column:
    """Outcomes of an array of JSON texts, each in ``value`` or with a ``reason`` why not."""
    given = StructType([*schema.fields]).add(_MISFIT, StringType())
    options = {"columnNameOfCorruptRecord": _MISFIT}

    def parsed(it: Column) -> Column:
        fields = fn.from_json(it["value"], given, options)
        return fn.struct(
            it["value"].alias("text"), fields.alias("fields"), it["reason"].alias("reason")
        )

    def outcome(it: Column) -> Column:
        fields = it["fields"]
        return _outcome_of(
            fields.dropFields(_MISFIT),
            it["reason"],
            fn.when(fields[_MISFIT].isNotNull(), fn.lit("WRONG_TYPE")),
            *_missing(fields, schema, ""),
            _unknown(fields, it["text"], schema),
        )

    return fn.transform(fn.transform(objects, parsed), outcome)


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


def _unknown(fields: Column, text: Column, schema: StructType) -> Column:
    """The reason if an object has no field of the schema, not even one that is null."""
    is_empty = reduce(and_, (fields[name].isNull() for name in schema.names))
    names = fn.array(*map(fn.lit, schema.names))
    is_known = fn.arrays_overlap(fn.json_object_keys(fn.coalesce(text, fn.lit("{}"))), names)
    # `json_object_keys` returns null for an object that contains NaN, which `from_json` accepts.
    is_foreign = is_known.isNull() | ~is_known
    return fn.when(is_empty & is_foreign, fn.lit("NO_KNOWN_FIELD"))


def _struct_type(schema: StructType | str) -> StructType:
    if not isinstance(schema, StructType):
        from pyspark.sql import SparkSession  # noqa: PLC0415 differs between classic and Connect

        schema = SparkSession.active().createDataFrame([], schema).schema
    if not schema.fields:
        raise ValueError("the schema has no field. Name at least one field of the payload")
    return schema


def _outcome_of(value: Column, *reasons: Column) -> Column:
    """A struct of the value and the first reason that is not null, which makes the value null."""
    reason = fn.coalesce(*reasons).cast("string")
    return fn.struct(fn.when(reason.isNull(), value).alias("value"), reason.alias("reason"))


def _failed(reason: Column) -> Column:
    return fn.array(fn.struct(fn.lit(None).alias("value"), reason.alias("reason")))


def _call(name: str, data: Column | str, *others: Column) -> Column:
    return fn.call_function(f"{_CATALOG}.{name}", _column(data), *others)


def _limit(max_bytes: int | None) -> list[Column]:
    """The argument ``maxBytes`` of a function of the jar, if it is given."""
    return [] if max_bytes is None else [fn.lit(max_bytes)]


def _column(given: Column | str) -> Column:
    return fn.col(given) if isinstance(given, str) else given
