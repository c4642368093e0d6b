"""Properties of payloads that Hypothesis generates: each example is a batch of many records."""

from __future__ import annotations

import gzip
import json
from decimal import Decimal
from typing import TYPE_CHECKING, Any, cast

import pytest
from boto3.dynamodb.types import TypeSerializer
from hypothesis import HealthCheck, Phase, given, settings
from hypothesis import strategies as st
from pyspark.sql import functions

from spark_kinesis import payloads
from tests.e2e.support.payloads import Outcome, avro_long, outcomes

if TYPE_CHECKING:
    from pyspark.sql import SparkSession

pytestmark = pytest.mark.slow

ROW = "id LONG NOT NULL, name STRING, price DECIMAL(20, 4), tags ARRAY<STRING>, gift BOOLEAN"
# To shrink a batch takes hundreds of jobs of Spark.
BATCHES = settings(
    max_examples=4,
    phases=[Phase.generate],
    deadline=None,
    suppress_health_check=list(HealthCheck),
    print_blob=True,  # each run has other examples
)

names = st.text(st.characters(exclude_categories=["Cs"], exclude_characters="\0"), max_size=12)
prices = st.integers(-(10**19), 10**19).map(lambda it: Decimal(it).scaleb(-4))
rows = st.fixed_dictionaries(
    {
        "id": st.integers(-(2**63), 2**63 - 1),
        "name": st.none() | names | st.just('"}{"'),
        "price": st.none() | prices,
        "tags": st.none() | st.lists(names, max_size=3),
        "gift": st.none() | st.booleans(),
    }
)
row_batches = st.lists(rows, min_size=40, max_size=60)


@pytest.fixture(autouse=True)
def registered(spark: SparkSession) -> None:
    payloads.register(spark)


def written(message: object) -> str:
    """JSON whose numbers keep all their digits."""
    text = json.dumps(message, default=lambda it: f"\0{it}\0", ensure_ascii=False)
    return text.replace('"\\u0000', "").replace('\\u0000"', "")


@BATCHES
@given(row_batches, st.sampled_from(["", "\n", " \r\n\t"]), st.booleans())
def test_objects_in_a_record_become_rows(
    spark: SparkSession, batch: list[dict[str, Any]], between: str, compressed: bool
) -> None:
    parts = [batch[start : start + 7] for start in range(0, len(batch), 7)]
    records = [between.join(map(written, part)).encode() for part in parts]
    if compressed:
        records = [gzip.compress(it) for it in records]
    found = outcomes(spark, records, payloads.json("data", ROW))
    assert found == [[(row, None) for row in part] for part in parts]


@BATCHES
@given(st.lists(st.tuples(rows, rows, st.floats(0, 1)), min_size=40, max_size=60))
def test_a_cut_record_gives_the_rows_before_the_cut_and_a_reason(
    spark: SparkSession, batch: list[tuple[dict[str, Any], dict[str, Any], float]]
) -> None:
    joined = [(written(a) + written(b)).encode() for a, b, _ in batch]
    firsts = [len(written(a).encode()) for a, _, _ in batch]
    cuts = [int((len(it) - 1) * part) for it, (_, _, part) in zip(joined, batch, strict=True)]
    records = [it[:cut] for it, cut in zip(joined, cuts, strict=True)]
    found = outcomes(spark, records, payloads.json("data", ROW))
    for record, data, (first, _, _), end in zip(found, records, batch, firsts, strict=True):
        assert all((value is None) == (reason is not None) for value, reason in record)
        values = [value for value, _ in record]
        if not data:
            assert record == [(None, "EMPTY")]
        elif data.decode(errors="ignore").encode() != data:  # cut within a character
            assert record == [(None, "NOT_UTF8")]
        elif len(data) < end:
            assert values == [None]
        else:
            assert values == ([first] if len(data) == end else [first, None])

    packed = [gzip.compress(it) for it in joined]
    cuts = [int((len(it) - 1) * part) for it, (_, _, part) in zip(packed, batch, strict=True)]
    records = [it[:cut] for it, cut in zip(packed, cuts, strict=True)]
    for record in outcomes(spark, records, payloads.json("data", ROW)):
        ((value, reason),) = record
        assert value is None
        assert reason


@BATCHES
@given(row_batches)
def test_items_of_dynamodb_as_boto3_writes_them(
    spark: SparkSession, batch: list[dict[str, Any]]
) -> None:
    serialize = cast("Any", TypeSerializer)().serialize  # boto3 has no types
    items = [{name: serialize(it) for name, it in row.items()} for row in batch]
    records = [
        {"eventName": "INSERT", "tableName": "orders", "dynamodb": {"NewImage": item}}
        for item in items
    ]
    data = [json.dumps(it).encode() for it in records]
    assert [after(it) for it in outcomes(spark, data, payloads.dynamodb("data", ROW))] == batch


@BATCHES
@given(st.lists(st.binary(max_size=64), min_size=100, max_size=150))
def test_any_bytes_have_an_outcome(spark: SparkSession, batch: list[bytes]) -> None:
    records = [*batch, *(bytes([3, 0]) + it for it in batch)]
    version = "00000000-0000-0000-0000-000000000000"
    for decoded in (
        payloads.json("data", ROW),
        payloads.dynamodb("data", ROW),
        payloads.inflate("data"),
        payloads.glue("data", {version: ""}, lambda it, _: payloads.json(it, ROW)),
    ):
        for record in outcomes(spark, records, decoded):
            assert record
            assert all((value is None) == (reason is not None) for value, reason in record)


def avro_text(text: str) -> bytes:
    """A string in Avro's encoding."""
    return avro_long(len(text.encode())) + text.encode()


def avro_row(row: dict[str, Any]) -> bytes:
    """The fields ``id``, ``name`` and ``tags`` in Avro's encoding."""
    name = b"\x00" if row["name"] is None else b"\x02" + avro_text(row["name"])
    tags = row["tags"] or []
    block = avro_long(len(tags)) + b"".join(map(avro_text, tags)) if tags else b""
    return avro_long(row["id"]) + name + block + b"\x00"


AVRO = """{"type": "record", "name": "Row", "fields": [
    {"name": "id", "type": "long"}, {"name": "name", "type": ["null", "string"]},
    {"name": "tags", "type": {"type": "array", "items": "string"}}]}"""


@BATCHES
@given(st.lists(st.tuples(rows, st.floats(0, 1)), min_size=40, max_size=60), st.binary(min_size=1))
def test_avro_is_accepted_only_whole_and_alone(
    spark: SparkSession, batch: list[tuple[dict[str, Any], float]], more: bytes
) -> None:
    whole = [avro_row(row) for row, _ in batch]
    cut = [it[: int((len(it) - 1) * part)] for it, (_, part) in zip(whole, batch, strict=True)]
    problem = functions.call_function(
        "kinesis_payloads.check_avro", functions.col("data"), functions.lit(AVRO)
    )
    value = functions.when(problem.isNull(), functions.col("data"))
    checked = functions.array(functions.struct(value.alias("value"), problem.alias("reason")))
    assert outcomes(spark, whole, checked) == [[(it, None)] for it in whole]
    for record in outcomes(spark, [*cut, *(it + more for it in whole)], checked):
        ((found, reason),) = record
        assert found is None
        assert reason is not None
        assert reason.startswith("NOT_AVRO")


def after(record: list[Outcome]) -> object:
    """The item after the only change of a record."""
    ((value, reason),) = record
    return value and value["dynamodb"]["NewImage"] if reason is None else reason
