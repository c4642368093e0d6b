"""Messages as their producers document them (`tests/golden/payloads/samples.json`)."""

from __future__ import annotations

import base64
import json
from decimal import Decimal
from typing import TYPE_CHECKING

import pytest
from pyspark.sql.functions import inline

from spark_kinesis import payloads
from tests.e2e.support.payloads import GOLDEN, SAMPLES, Outcome, sample_outcomes
from tests.e2e.support.programs import run_app

if TYPE_CHECKING:
    from pathlib import Path

    from pyspark.sql import SparkSession

    from tests.e2e.support.streams import Stream


@pytest.fixture(autouse=True)
def registered(spark: SparkSession) -> None:
    payloads.register(spark)


def values(found: list[list[Outcome]]) -> list[dict[str, object]]:
    """The values that are there, without their time."""
    return [
        {name: it for name, it in value.items() if name not in ("at", "time", "timestamp")}
        for record in found
        for value, reason in record
        if reason is None
    ]


def reasons(found: list[list[Outcome]]) -> list[str]:
    """The reasons that are there."""
    return [reason for record in found for _, reason in record if reason is not None]


def test_log_events_of_cloudwatch(spark: SparkSession) -> None:
    found = sample_outcomes(spark, "cloudwatch_logs")
    assert [it["message"] for it in values(found)] == [
        '{"eventVersion":"1.03"}',
        'a line with "}{" in it',
    ]
    first = values(found)[0]
    assert first["logGroup"] == "CloudTrail/logs"
    assert first["subscriptionFilters"] == ["RecipientStream"]
    assert found[0][0][0]["timestamp"].timestamp() == 1432826855
    assert reasons(found) == ["CONTROL: health check"]


def test_an_event_of_event_bridge(spark: SparkSession) -> None:
    (event,) = values(sample_outcomes(spark, "event_bridge"))
    assert event["detailType"] == "EC2 Instance State-change Notification"
    assert event["detail"] == {"instance-id": "i-1234567890abcdef0", "state": "terminated"}


def test_a_change_of_dynamodb(spark: SparkSession) -> None:
    found = sample_outcomes(spark, "dynamodb")
    before = {"id": 3, "customer": "Bob", "price": Decimal("63.06")}
    assert values(found) == [
        {
            "operation": "update",
            "table": "orders",
            "before": before,
            "after": {**before, "price": Decimal("63.07")},
        }
    ]
    assert found[0][0][0]["at"].timestamp() == pytest.approx(1720037677.123456)


def test_changes_of_dms(spark: SparkSession) -> None:
    found = sample_outcomes(spark, "dms")
    old = {"id": 5, "name": "old"}
    assert reasons(found) == ["CONTROL: create-table"]
    assert values(found) == [
        {"operation": "snapshot", "table": "shop.orders", "before": None, "after": old},
        {
            "operation": "update",
            "table": "shop.orders",
            "before": old,
            "after": {"id": 5, "name": "new"},
        },
    ]


def test_changes_of_debezium(spark: SparkSession) -> None:
    found = sample_outcomes(spark, "debezium")
    after = {"id": 1, "first_name": "Anne", "email": "annek@noanswer.org"}
    assert values(found) == [
        {"operation": "insert", "table": "inventory.customers", "before": None, "after": after}
    ]
    assert reasons(found) == ["CONTROL: heartbeat", "CONTROL: transaction"]


def test_changes_of_maxwell(spark: SparkSession) -> None:
    found = sample_outcomes(spark, "maxwell")
    old, new = ({"id": 1, "daemon": it} for it in ("Stanislaw Lem", "Firebus!  Firebus!"))
    assert values(found) == [
        {"operation": "insert", "table": "test.maxwell", "before": None, "after": old},
        {"operation": "update", "table": "test.maxwell", "before": old, "after": new},
    ]
    assert reasons(found) == ["CONTROL: bootstrap-start"]


@pytest.mark.parametrize("kinesis", ["simulator"], indirect=True)
def test_an_aggregate_of_the_kinesis_producer_library(spark: SparkSession, stream: Stream) -> None:
    made = json.loads((GOLDEN / "kpl.json").read_text("utf-8"))["aggregate"]
    stream.put_raw(base64.b64decode(made["data"]), made["partitionKey"])
    decoded = payloads.json("data", "id LONG NOT NULL, customer STRING")
    rows = stream.source().read(spark).select("partitionKey", "subSequenceNumber", inline(decoded))
    found = rows.select("*", "value.*").orderBy("subSequenceNumber", "id").collect()
    assert [(it["partitionKey"], it["id"], it["customer"], it["reason"]) for it in found] == [
        ("key-0", 1, "Zürich", None),
        ("key-1", 2, None, None),
        ("key-1", 3, None, None),
        ("key-0", 4, None, None),
        ("key-0", 5, None, None),
        ("key-1", None, None, "EMPTY"),
    ]


@pytest.mark.spark4
def test_spark_connect_decodes_the_same(spark: SparkSession, tmp_path: Path) -> None:
    said = run_app("payload_session", cwd=tmp_path).stdout.splitlines()[-1]
    assert said == repr({name: sample_outcomes(spark, name) for name in SAMPLES})
