"""Payloads that Spark's own functions decode to nothing, or to something wrong, without a word."""

from __future__ import annotations

import gzip
import json
import zlib
from typing import TYPE_CHECKING

import pytest
from pyspark.sql import functions
from pyspark.sql.types import ArrayType, LongType, StructField, StructType

from spark_kinesis import payloads
from tests.e2e.support.payloads import outcomes

if TYPE_CHECKING:
    from pyspark.sql import Column, SparkSession

SCHEMA = "id LONG, total DOUBLE"


@pytest.fixture(autouse=True)
def registered(spark: SparkSession) -> None:
    payloads.register(spark)


@pytest.mark.parametrize(
    ("data", "expected"),
    [
        (b'{"id":1,"total":2.5}', [((1, 2.5), None)]),
        (b'{"id":1}{"id":2}', [((1, None), None), ((2, None), None)]),
        (b'{"id":1}\n{"id":2}\n', [((1, None), None), ((2, None), None)]),
        (gzip.compress(b'{"id":1}{"id":2}'), [((1, None), None), ((2, None), None)]),
        (b'{"id":null}', [((None, None), None)]),
        (b'{"id":"1"}', [(None, "WRONG_TYPE")]),
        (b'{"id":1,"total":"2.5"}', [(None, "WRONG_TYPE")]),
        (b'{"id":99999999999999999999}', [(None, "WRONG_TYPE")]),
        (b'{"ID":1}', [(None, "NO_KNOWN_FIELD")]),
        (b'{"ID":NaN}', [(None, "NO_KNOWN_FIELD")]),
        (b"{}", [(None, "NO_KNOWN_FIELD")]),
        (b"", [(None, "EMPTY")]),
        (b"null", [(None, "NOT_JSON: from character 1")]),
        (b'[{"id":1}]', [(None, "NOT_JSON: from character 1")]),
        (b'{"id":1', [(None, "NOT_JSON: from character 1")]),
        (b'{"id":1} x', [((1, None), None), (None, "NOT_JSON: from character 9")]),
        (b'{"id":1,"name":"Z\xfcrich"}', [(None, "NOT_UTF8")]),
        (gzip.compress(b'{"id":1}')[:-1], [(None, "DAMAGED: gzip")]),
    ],
)
def test_json(spark: SparkSession, data: bytes, expected: list[object]) -> None:
    (found,) = outcomes(spark, [data], payloads.json("data", SCHEMA))
    pairs = [(value and (value["id"], value["total"]), reason) for value, reason in found]
    assert pairs == expected


def test_a_field_that_is_not_null_must_be_there(spark: SparkSession) -> None:
    records = [b'{"id":1}', b'{"total":1.0}', b'{"id":null,"total":1.0}']
    found = outcomes(spark, records, payloads.json("data", "id LONG NOT NULL, total DOUBLE"))
    assert [record[0][1] for record in found] == [None, "MISSING: id", "MISSING: id"]


@pytest.mark.parametrize(
    ("schema", "good", "bad", "path"),
    [
        ("a STRUCT<b: LONG NOT NULL>", {"a": None}, {"a": {"c": 1}}, "a.b"),
        ("a ARRAY<STRUCT<b: LONG NOT NULL>>", {"a": [{"b": 1}]}, {"a": [{"b": 1}, {}]}, "a.b"),
        ("a MAP<STRING, STRUCT<b: LONG NOT NULL>>", {"a": {"k": None}}, {"a": {"k": {}}}, "a.b"),
        (
            StructType([StructField("a", ArrayType(LongType(), containsNull=False))]),
            {"a": [1]},
            {"a": [1, None]},
            "a",
        ),
    ],
)
def test_a_nested_field_that_is_not_null_must_be_there(
    spark: SparkSession, schema: str | StructType, good: object, bad: object, path: str
) -> None:
    records = [json.dumps(it).encode() for it in (good, bad)]
    found = outcomes(spark, records, payloads.json("data", schema))
    assert found == [[(good, None)], [(None, f"MISSING: {path}")]]


def test_a_schema_may_have_any_field_but_not_none(spark: SparkSession) -> None:
    (found,) = outcomes(spark, [b'{"misfit":"x"}'], payloads.json("data", "misfit STRING"))
    assert found == [({"misfit": "x"}, None)]
    with pytest.raises(ValueError, match="the schema has no field"):
        payloads.json("data", StructType())


def test_all_functions_have_a_limit(spark: SparkSession) -> None:
    record = gzip.compress(b'{"id":1}')
    header = bytes([3, 5]) + bytes(16)
    version = "00000000-0000-0000-0000-000000000000"
    for decoded in [
        payloads.json("data", SCHEMA, max_bytes=7),
        payloads.dynamodb("data", SCHEMA, max_bytes=7),
        payloads.inflate("data", max_bytes=7),
    ]:
        assert outcomes(spark, [record], decoded) == [[(None, "TOO_LARGE: more than 7 bytes")]]
    decoded = payloads.glue(
        "data", {version: ""}, lambda it, _: payloads.json(it, SCHEMA), max_bytes=7
    )
    found = outcomes(spark, [header + record], decoded)
    assert found == [[(None, "TOO_LARGE: more than 7 bytes")]]


def test_decompression(spark: SparkSession) -> None:
    records = [zlib.compress(b"text"), b"text", gzip.compress(bytes(11))]
    found = outcomes(spark, records, payloads.inflate("data", max_bytes=10))
    assert found[0] == [(b"text", None)]
    assert found[1:] == [[(None, "NOT_COMPRESSED")], [(None, "TOO_LARGE: more than 10 bytes")]]


def test_what_is_no_change_of_dynamodb_has_a_reason(spark: SparkSession) -> None:
    change = {"NewImage": {"id": {"N": "1"}}}
    messages: list[object] = [
        {"eventName": "INSERT", "dynamodb": change},
        {"id": 1},
        {"dynamodb": change},
        {"eventName": "INSERT"},
        {"eventName": "INSERT", "dynamodb": {"NewImage": {}}},
    ]
    records = [json.dumps(it).encode() for it in messages]
    found = outcomes(spark, records, payloads.dynamodb("data", "id LONG NOT NULL"))
    assert [record[0][1] for record in found] == [
        None,
        "NOT_DYNAMODB",
        "MISSING: eventName",
        "NOT_DYNAMODB",
        "MISSING: dynamodb.NewImage.id",
    ]


def test_an_unknown_version_and_a_missing_header_have_a_reason(spark: SparkSession) -> None:
    version = "00000000-0000-0000-0000-000000000001"
    header = bytes([3, 0]) + bytes(15)
    records = [header + b'\x01{"id":1}', header + b'\x02{"id":1}', b'{"id":1}', header]
    decoded = payloads.glue("data", {version: ""}, lambda it, _: payloads.json(it, SCHEMA))
    found = outcomes(spark, records, decoded)
    assert found[0][0][0]["id"] == 1
    assert [record[0][1] for record in found[1:]] == [
        "UNKNOWN_SCHEMA_VERSION: 00000000-0000-0000-0000-000000000002",
        "NO_REGISTRY_HEADER",
        "NO_REGISTRY_HEADER",
    ]
    null = functions.lit(None).cast("binary")
    without = payloads.glue(null, {version: ""}, lambda it, _: payloads.json(it, SCHEMA))
    assert outcomes(spark, [b""], without) == [[(None, "NO_DATA")]]
    with pytest.raises(ValueError, match="schemas is empty"):
        payloads.glue("data", {}, lambda it, _: payloads.json(it, SCHEMA))


def failing(spark: SparkSession, records: list[bytes], decoded: Column) -> list[object]:
    """The values of records, if the query must fail at the first reason."""
    rows = [(bytearray(data), str(number)) for number, data in enumerate(records)]
    frame = spark.createDataFrame(rows, "data BINARY, sequenceNumber STRING")
    return [it["id"] for it in frame.select(functions.inline(payloads.or_fail(decoded))).collect()]


def test_or_fail_names_the_record_and_the_reason(spark: SparkSession) -> None:
    decoded = payloads.json("data", SCHEMA)
    assert failing(spark, [b'{"id":1}', b'{"id":2}'], decoded) == [1, 2]
    with pytest.raises(Exception, match=r"cannot decode a payload: WRONG_TYPE, record 1"):
        failing(spark, [b'{"id":1}', b'{"id":"2"}'], decoded)


def test_the_functions_of_the_jar_work_in_sql(spark: SparkSession) -> None:
    calls = {
        "inflate(X'00').reason": "NOT_COMPRESSED",
        """split_json('{"a":1} {"b":2}').value""": ['{"a":1}', '{"b":2}'],
        """dynamodb_json('{"dynamodb":{"Keys":{"id":{"N":"1"}}}}').value""": (
            '{"dynamodb":{"Keys":{"id":1}}}'
        ),
        """check_avro(X'02', '"long"')""": None,
        """check_avro(X'0200', '"long"')""": "NOT_AVRO: bytes are left over",
        "split_json(CAST(NULL AS BINARY))[0].reason": "NO_DATA",
    }
    found = spark.sql("SELECT " + ", ".join(f"kinesis_payloads.{it}" for it in calls))
    assert list(found.collect()[0]) == list(calls.values())


def test_a_program_in_sql_makes_the_functions_available(spark: SparkSession) -> None:
    session = spark.newSession()
    session.sql("SET spark.sql.catalog.kinesis_payloads = sparkkinesis.spark.KinesisFunctions")
    found = session.sql("SELECT kinesis_payloads.inflate(X'00').reason").collect()
    assert found[0][0] == "NOT_COMPRESSED"


def test_a_database_may_have_the_name_kinesis(spark: SparkSession) -> None:
    spark.sql("CREATE DATABASE IF NOT EXISTS kinesis")
    try:
        assert spark.sql("SHOW TABLES IN kinesis").count() == 0
    finally:
        spark.sql("DROP DATABASE kinesis")


@pytest.mark.parametrize(
    ("call", "expected"),
    [
        ("inflate(1)", r"inflate\(data BINARY, \[maxBytes INT\]\) does not accept \(INT\)"),
        ("inflate()", r"does not accept \(\)"),
        ("inflate(X'00', 0)", "maxBytes must be at least 1"),
        ("dynamo('{}')", "kinesis_payloads`.`dynamo"),
    ],
)
def test_wrong_arguments_are_refused(spark: SparkSession, call: str, expected: str) -> None:
    with pytest.raises(Exception, match=expected):
        spark.sql(f"SELECT kinesis_payloads.{call}").collect()


def test_another_catalog_of_the_name_is_refused(spark: SparkSession) -> None:
    session = spark.newSession()
    session.conf.set("spark.sql.catalog.kinesis_payloads", "com.example.Catalog")
    with pytest.raises(
        ValueError, match=r"sql\.catalog\.kinesis_payloads is com\.example\.Catalog"
    ):
        payloads.register(session)
