"""Aggregates of the sink, read by an independent reader (`aws_kinesis_agg`)."""

from __future__ import annotations

import base64
import json
from pathlib import Path
from typing import Any

import pytest
from aws_kinesis_agg import deaggregator

GOLDEN = Path(__file__).parent / "kpl"
BUILT: dict[str, Any] = json.loads((GOLDEN / "built.json").read_text(encoding="utf-8"))
ONCE: dict[str, Any] = json.loads((GOLDEN / "once.json").read_text(encoding="utf-8"))


def read(record: dict[str, Any]) -> list[dict[str, Any]]:
    """The records that an AWS Lambda function gets from an aggregate."""
    event = {
        "kinesis": {
            "kinesisSchemaVersion": "1.0",
            "sequenceNumber": "1",
            "approximateArrivalTimestamp": 1.0,
            "partitionKey": record["partitionKey"],
            "data": record["data"],
        }
    }
    return [user["kinesis"] for user in deaggregator.deaggregate_records(event)]


@pytest.mark.parametrize("name", BUILT)
def test_every_row_is_read(name: str) -> None:
    expected = BUILT[name]["userRecords"]
    found = read(BUILT[name])
    assert [it["partitionKey"] for it in found] == [it["partitionKey"] for it in expected]
    assert [base64.b64decode(it["data"]) for it in found] == [
        base64.b64decode(it["data"]) for it in expected
    ]
    if name == "hash keys":  # this reader gives the first hash key to all records without one
        assert [it["explicitHashKey"] for it in found] == [it["explicitHashKey"] for it in expected]


@pytest.mark.parametrize("name", BUILT)
def test_rows_are_aggregated_unless_there_is_only_one(name: str) -> None:
    is_aggregate = [it.get("aggregated", False) for it in read(BUILT[name])]
    assert all(is_aggregate) == (name != "alone")
    assert BUILT[name]["partitionKey"] == ("customer 1" if name == "alone" else "a")


@pytest.mark.parametrize("name", ONCE)
def test_this_reader_ignores_the_tags_and_markers_of_exactly_once(name: str) -> None:
    expected = ONCE[name]["userRecords"]
    found = read(ONCE[name])
    assert [(it["partitionKey"], base64.b64decode(it["data"])) for it in found] == [
        (it["partitionKey"], base64.b64decode(it["data"])) for it in expected
    ]
