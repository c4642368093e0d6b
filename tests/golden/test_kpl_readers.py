"""Aggregates that the sink makes, taken apart by a reader that is not ours (`aws_kinesis_agg`)."""

from __future__ import annotations

import base64
import json
from pathlib import Path
from typing import Any

import pytest
from aws_kinesis_agg import deaggregator

BUILT: dict[str, Any] = json.loads(
    (Path(__file__).parent / "kpl" / "built.json").read_text(encoding="utf-8")
)


def read(record: dict[str, Any]) -> list[dict[str, Any]]:
    """What a function of AWS Lambda gets of a record, taken apart."""
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
def test_what_was_put_in_is_read(name: str) -> None:
    expected = BUILT[name]["userRecords"]
    found = read(BUILT[name])
    assert [it["partitionKey"] for it in found] == [it["partitionKey"] for it in expected]
    assert [base64.b64decode(it["data"]) for it in found] == [
        base64.b64decode(it["data"]) for it in expected
    ]
    if name == "hash keys":  # of some only: this reader gives the first of them to all others
        assert [it["explicitHashKey"] for it in found] == [it["explicitHashKey"] for it in expected]


@pytest.mark.parametrize("name", BUILT)
def test_an_aggregate_is_one_unless_a_record_is_alone(name: str) -> None:
    is_aggregate = [it.get("aggregated", False) for it in read(BUILT[name])]
    assert all(is_aggregate) == (name != "alone")
    assert BUILT[name]["partitionKey"] == ("customer 1" if name == "alone" else "a")
