"""Messages as their producers document them (`tests/golden/payloads/samples.json`)."""

from __future__ import annotations

import base64
import json
from decimal import Decimal
from typing import TYPE_CHECKING, Any

import pytest
from pyspark.sql.functions import inline

from spark_kinesis import payloads
from tests.e2e.support.payloads import GOLDEN, SAMPLES, sample_outcomes
from tests.e2e.support.programs import run_app

if TYPE_CHECKING:
    from pathlib import Path

    from pyspark.sql import SparkSession

    from tests.e2e.support.streams import Stream


@pytest.fixture(autouse=True)
def registered(spark: SparkSession) -> None:
    payloads.register(spark)


def values(spark: SparkSession, name: str) -> list[dict[str, Any]]:
    """The values of a producer's messages, all of which fit their schema."""
    found = [outcome for record in sample_outcomes(spark, name) for outcome in record]
    assert {reason for _, reason in found} == {None}
    return [value for value, _ in found]


def test_log_events_of_cloudwatch(spark: SparkSession) -> None:
    data, control = values(spark, "cloudwatch_logs")
    assert (data["messageType"], control["messageType"]) == ("DATA_MESSAGE", "CONTROL_MESSAGE")
    assert data["logGroup"] == "CloudTrail/logs"
    assert [it["message"] for it in data["logEvents"]] == [
        '{"eventVersion":"1.03"}',
        'a line with "}{" in it',
    ]


def test_an_event_of_event_bridge(spark: SparkSession) -> None:
    (event,) = values(spark, "event_bridge")
    assert event["detail-type"] == "EC2 Instance State-change Notification"
    assert event["detail"] == {"instance-id": "i-1234567890abcdef0", "state": "terminated"}


def test_a_change_of_dynamodb(spark: SparkSession) -> None:
    before = {"id": 3, "customer": "Bob", "price": Decimal("63.06")}
    (change,) = values(spark, "dynamodb")
    assert change == {
        "eventName": "MODIFY",
        "tableName": "orders",
        "dynamodb": {
            "NewImage": {**before, "price": Decimal("63.07")},
            "OldImage": before,
            "ApproximateCreationDateTime": 1720037677123456,
            "ApproximateCreationDateTimePrecision": "MICROSECOND",
        },
    }


def test_changes_of_dms(spark: SparkSession) -> None:
    control, load, update = values(spark, "dms")
    old = {"id": 5, "name": "old"}
    assert control["metadata"]["operation"] == "create-table"
    assert (load["metadata"]["operation"], load["data"]) == ("load", old)
    assert (update["before-image"], update["data"]) == (old, {"id": 5, "name": "new"})


def test_changes_of_debezium(spark: SparkSession) -> None:
    change, heartbeat, transaction = sample_outcomes(spark, "debezium")
    ((value, reason),) = change
    assert reason is None
    assert value["payload"]["op"] == "c"
    assert value["payload"]["after"] == {"id": 1, "first_name": "Anne"}
    assert heartbeat == transaction == [(None, "NO_KNOWN_FIELD")]


def test_changes_of_maxwell(spark: SparkSession) -> None:
    insert, update, control = values(spark, "maxwell")
    assert insert["data"] == {"id": 1, "daemon": "Stanislaw Lem"}
    assert update["old"] == {"id": None, "daemon": "Stanislaw Lem"}
    assert control["type"] == "bootstrap-start"


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
