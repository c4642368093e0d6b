"""Avro, and the AWS Glue Schema Registry."""

from __future__ import annotations

from typing import TYPE_CHECKING

from pyspark.sql import functions as fn

from spark_kinesis._boto import aws_errors, client
from spark_kinesis._errors import SparkKinesisError

from ._outcomes import call, column, failed, limit, once, outcome_of

if TYPE_CHECKING:
    from collections.abc import Callable, Mapping

    from pyspark.sql import Column

_ATTEMPTS = 5
_HEADER = 18  # bytes of the registry's header
_LONGEST = 2**31 - 1


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
    found = from_avro(column(data), schema, options)
    problem = call("check_avro", data, *map(fn.lit, schemas))
    return fn.transform(fn.array(problem), lambda reason: outcome_of(found, reason))


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
            the version. ``glue_schemas`` fetches it.
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
    whole = column(data)
    header, uuid = fn.hex(fn.substring(whole, 1, 2)), fn.lower(fn.hex(fn.substring(whole, 3, 16)))
    groups = "(.{8})(.{4})(.{4})(.{4})(.{12})"
    version = fn.regexp_replace(uuid, groups, "$1-$2-$3-$4-$5")
    payload = fn.substring(whole, _HEADER + 1, _LONGEST)
    plain = fn.struct(payload.alias("value"), fn.lit(None).cast("string").alias("reason"))
    none = fn.when(whole.isNull(), fn.lit("NO_DATA")).otherwise(fn.lit("NO_REGISTRY_HEADER"))
    is_long = fn.length(whole) >= _HEADER
    found = (
        fn.when(is_long & (header == "0300"), plain)
        .when(is_long & (header == "0305"), call("inflate", payload, *limit(max_bytes)))
        .otherwise(fn.struct(fn.lit(None).alias("value"), none.alias("reason")))
    )

    def outcomes(it: Column) -> Column:
        cases = fn.when(it["reason"].isNotNull(), failed(it["reason"]))
        for known, definition in schemas.items():
            cases = cases.when(version == known.lower(), decode(it["value"], definition))
        return cases.otherwise(failed(fn.concat(fn.lit("UNKNOWN_SCHEMA_VERSION: "), version)))

    return once(found, outcomes)


def glue_schemas(
    name: str,
    registry: str = "default-registry",
    *,
    region: str | None = None,
    profile: str | None = None,
    endpoint: str | None = None,
) -> dict[str, str]:
    """Fetch all versions of a schema from the AWS Glue Schema Registry. Needs boto3.

    Args:
        name: name of the schema.
        registry: name of the registry.
        region: AWS region; default: that of the environment or the profile.
        profile: profile of the AWS configuration files.
        endpoint: URL of the service; default: that of AWS.

    Returns:
        The definition of each version by its UUID. The latest version is the last one.

    Raises:
        MissingPackageError: if boto3 is not installed.
        SparkKinesisError: if the registry cannot be read. The message names schema and registry.
    """
    service = client("glue_schemas", "glue", endpoint, region, profile, attempts=_ATTEMPTS)
    try:
        pages = service.get_paginator("list_schema_versions").paginate(
            SchemaId={"SchemaName": name, "RegistryName": registry}
        )
        listed = [it for page in pages for it in page["Schemas"] if it["Status"] == "AVAILABLE"]
        ids = [it["SchemaVersionId"] for it in sorted(listed, key=lambda it: it["VersionNumber"])]
        return {
            it: service.get_schema_version(SchemaVersionId=it)["SchemaDefinition"] for it in ids
        }
    except aws_errors() as error:
        raise SparkKinesisError(
            f"cannot read the schema {name} of the registry {registry}: {error}"
        ) from error
