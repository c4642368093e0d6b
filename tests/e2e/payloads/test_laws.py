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

from spark_kinesis import payloads
from tests.e2e.support.payloads import Outcome, outcomes

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
    derandomize=True,
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
    for compress in (bytes, gzip.compress):
        whole = [compress((written(a) + written(b)).encode()) for a, b, _ in batch]
        cuts = [int((len(it) - 1) * part) for it, (_, _, part) in zip(whole, batch, strict=True)]
        records = [it[:cut] for it, cut in zip(whole, cuts, strict=True)]
        found = outcomes(spark, records, payloads.json("data", ROW))
        for record, (first, second, _) in zip(found, batch, strict=True):
            good = [value for value, reason in record if reason is None]
            assert good == [first, second][: len(good)]
            assert len(good) < 2
            assert record[-1][1] is not None or good == [first]


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
@given(st.lists(st.tuples(rows, rows), min_size=40, max_size=60))
def test_updates_have_both_rows(
    spark: SparkSession, batch: list[tuple[dict[str, Any], dict[str, Any]]]
) -> None:
    messages: dict[str, list[object]] = {"debezium": [], "dms": [], "maxwell": []}
    for old, new in batch:
        changed = {name: it for name, it in old.items() if it != new[name]}
        about = {"operation": "update", "record-type": "data"}
        messages["debezium"].append({"payload": {"op": "u", "before": old, "after": new}})
        messages["dms"].append({"data": new, "before-image": old, "metadata": about})
        messages["maxwell"].append({"type": "update", "data": new, "old": changed})
    for producer, sent in messages.items():
        decoded = getattr(payloads, producer)("data", ROW)
        found = outcomes(spark, [written(it).encode() for it in sent], decoded)
        assert [(before(it), after(it)) for it in found] == batch


@BATCHES
@given(st.lists(st.binary(max_size=64), min_size=100, max_size=150))
def test_any_bytes_have_an_outcome(spark: SparkSession, batch: list[bytes]) -> None:
    records = [*batch, *(bytes([3, 0]) + it for it in batch)]
    version = "00000000-0000-0000-0000-000000000000"
    for decoded in (
        payloads.json("data", ROW),
        payloads.cloudwatch_logs("data"),
        payloads.dynamodb("data", ROW),
        payloads.debezium("data", ROW),
        payloads.maxwell("data", ROW),
        payloads.dms("data", ROW),
        payloads.event_bridge("data", ROW),
        payloads.inflate("data"),
        payloads.glue("data", {version: ""}, lambda it, _: payloads.json(it, ROW)),
    ):
        for record in outcomes(spark, records, decoded):
            assert record
            assert all((value is None) == (reason is not None) for value, reason in record)


def after(record: list[Outcome]) -> object:
    """The row after the only change of a record."""
    ((value, reason),) = record
    return value and value["after"] if reason is None else reason


def before(record: list[Outcome]) -> object:
    """The row before the only change of a record."""
    ((value, reason),) = record
    return value and value["before"] if reason is None else reason
