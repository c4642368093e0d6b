"""Payloads that Spark's own functions decode to nothing, or to something wrong, without a word."""

from __future__ import annotations

import gzip
import json
import zlib
from typing import TYPE_CHECKING

import pytest
from pyspark.sql import functions

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


def test_decompression(spark: SparkSession) -> None:
    records = [zlib.compress(b"text"), b"text", gzip.compress(bytes(11))]
    found = outcomes(spark, records, payloads.inflate("data", max_bytes=10))
    assert found[0] == [(b"text", None)]
    assert found[1:] == [[(None, "NOT_COMPRESSED")], [(None, "TOO_LARGE: more than 10 bytes")]]


@pytest.mark.parametrize(
    ("decoded", "others"),
    [
        (payloads.cloudwatch_logs, [{"id": 1}, {"messageType": "DATA_MESSAGE"}]),
        (lambda data: payloads.event_bridge(data, SCHEMA), [{"id": "1"}, {"detail-type": "a"}]),
        (lambda data: payloads.dynamodb(data, SCHEMA), [{"id": 1}, {"dynamodb": {}}]),
        (lambda data: payloads.dms(data, SCHEMA), [{"id": 1}, {"metadata": {"operation": "x"}}]),
        (
            lambda data: payloads.debezium(data, SCHEMA),
            [{"id": 1}, {"op": "x"}, {"id": 1, "ts_ms": 1}, {"id": 1, "status": "END"}],
        ),
        (lambda data: payloads.maxwell(data, SCHEMA), [{"id": 1}, {"type": "x"}]),
    ],
)
def test_a_message_of_another_kind_has_a_reason(
    spark: SparkSession, decoded: object, others: list[object]
) -> None:
    assert callable(decoded)
    found = outcomes(spark, [json.dumps(it).encode() for it in others], decoded("data"))
    assert all(str(reason).startswith("NOT_") for record in found for _, reason in record), found


@pytest.mark.parametrize("after", [None, {}, {"other": 1}, {"id": "one"}])
def test_a_change_without_a_row_of_the_schema_has_a_reason(
    spark: SparkSession, after: object
) -> None:
    for message, decoded in [
        ({"op": "c", "after": after}, payloads.debezium("data", SCHEMA)),
        ({"type": "insert", "data": after}, payloads.maxwell("data", SCHEMA)),
        ({"metadata": {"operation": "load"}, "data": after}, payloads.dms("data", SCHEMA)),
    ]:
        (found,) = outcomes(spark, [json.dumps(message).encode()], decoded)
        ((value, reason),) = found
        assert value is None
        assert reason in ("NO_ROW", "NO_KNOWN_FIELD", "WRONG_TYPE")


def test_a_tombstone_of_debezium_is_no_data(spark: SparkSession) -> None:
    (found,) = outcomes(spark, [b""], payloads.debezium("data", SCHEMA))
    assert found == [(None, "CONTROL: tombstone")]


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


def test_or_fail_leaves_out_what_is_no_data(spark: SparkSession) -> None:
    changes = payloads.debezium("data", SCHEMA)
    rows = functions.transform(changes, lambda it: it)
    events = functions.filter(rows, lambda it: it["reason"].isNotNull())
    frame = spark.createDataFrame([(bytearray(b""), "1")], "data BINARY, sequenceNumber STRING")
    assert frame.select(functions.inline(events)).count() == 1
    assert frame.select(functions.inline(payloads.or_fail(changes))).count() == 0


def test_the_functions_of_the_jar_work_in_sql(spark: SparkSession) -> None:
    found = spark.sql("""
        SELECT kinesis.inflate(X'00').reason, kinesis.split_json('{"a":1} {"b":2}').value,
               kinesis.dynamodb_json('{"dynamodb":{"Keys":{"id":{"N":"1"}}}}').value,
               kinesis.check_avro(X'02', '"long"'), kinesis.check_avro(X'0200', '"long"'),
               kinesis.split_json(CAST(NULL AS BINARY))[0].reason
    """).collect()[0]
    assert list(found) == [
        "NOT_COMPRESSED",
        ['{"a":1}', '{"b":2}'],
        '{"dynamodb":{"Keys":{"id":1}}}',
        None,
        "NOT_AVRO: bytes are left over",
        "NO_DATA",
    ]


def test_a_program_in_sql_makes_the_functions_available(spark: SparkSession) -> None:
    session = spark.newSession()
    session.sql("SET spark.sql.catalog.kinesis = sparkkinesis.spark.KinesisFunctions")
    assert session.sql("SELECT kinesis.inflate(X'00').reason").collect()[0][0] == "NOT_COMPRESSED"


@pytest.mark.parametrize(
    ("call", "expected"),
    [
        ("inflate(1)", r"inflate\(data BINARY, \[maxBytes INT\]\) does not accept \(INT\)"),
        ("inflate()", r"does not accept \(\)"),
        ("inflate(X'00', 0)", "maxBytes must be at least 1"),
        ("dynamo('{}')", "kinesis`.`dynamo"),
    ],
)
def test_wrong_arguments_are_refused(spark: SparkSession, call: str, expected: str) -> None:
    with pytest.raises(Exception, match=expected):
        spark.sql(f"SELECT kinesis.{call}").collect()


def test_another_catalog_of_the_name_is_refused(spark: SparkSession) -> None:
    session = spark.newSession()
    session.conf.set("spark.sql.catalog.kinesis", "com.example.Catalog")
    with pytest.raises(ValueError, match=r"spark\.sql\.catalog\.kinesis is com\.example\.Catalog"):
        payloads.register(session)
