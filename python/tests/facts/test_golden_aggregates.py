"""The reader of aggregated records, on those that the connector writes."""

from __future__ import annotations

import base64
import json
from pathlib import Path
from typing import Any

import pytest

from spark_kinesis.tools.facts.aggregates import parse

GOLDEN = Path(__file__).parents[3] / "tests/golden/kpl"
BUILT: dict[str, Any] = json.loads((GOLDEN / "built.json").read_text(encoding="utf-8"))
ONCE: dict[str, Any] = json.loads((GOLDEN / "once.json").read_text(encoding="utf-8"))


def rows(record: dict[str, Any]) -> list[tuple[str, bytes]]:
    return [(it["partitionKey"], base64.b64decode(it["data"])) for it in record["userRecords"]]


@pytest.mark.parametrize("name", BUILT)
def test_the_rows_of_the_sink_are_read(name: str) -> None:
    found = parse(base64.b64decode(BUILT[name]["data"]))
    if found is None:
        assert name == "alone"
        return
    assert [(it.key, it.data) for it in found.rows] == rows(BUILT[name])
    hash_keys = [it.get("explicitHashKey") for it in BUILT[name]["userRecords"]]
    assert [it.hash_key for it in found.rows] == hash_keys


@pytest.mark.parametrize("name", ONCE)
def test_the_rows_and_markers_of_an_exactly_once_query_are_read(name: str) -> None:
    found = parse(base64.b64decode(ONCE[name]["data"]))
    assert found is not None
    assert [(it.key, it.data) for it in found.rows] == rows(ONCE[name])
    assert found.is_marker != bool(found.rows)
