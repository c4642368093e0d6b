"""The reader of aggregated records, on those of the connector and of a library."""

from __future__ import annotations

import base64
import json
import subprocess
import sys
from hashlib import md5
from pathlib import Path
from typing import Any

import pytest
from aws_kinesis_agg.aggregator import RecordAggregator
from hypothesis import given
from hypothesis import strategies as st

from spark_kinesis.tools.aggregates import maker, parse

GOLDEN = Path(__file__).parents[3] / "tests/golden/kpl"
BUILT: dict[str, Any] = json.loads((GOLDEN / "built.json").read_text(encoding="utf-8"))
ONCE: dict[str, Any] = json.loads((GOLDEN / "once.json").read_text(encoding="utf-8"))
MARK = b"\xf3\x89\x9a\xc2"


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
    assert "spark-kinesis" in maker(found, BUILT[name]["partitionKey"])


@pytest.mark.parametrize("name", ONCE)
def test_the_query_of_an_exactly_once_row_is_named(name: str) -> None:
    found = parse(base64.b64decode(ONCE[name]["data"]))
    assert found is not None
    assert [(it.key, it.data) for it in found.rows] == rows(ONCE[name])
    said = maker(found, ONCE[name]["partitionKey"])
    if rows(ONCE[name]):
        assert said.startswith("spark-kinesis, exactly once: query q, batch 7, task 2, number ")
    else:
        assert said == "spark-kinesis, marker"


def test_a_row_without_a_hash_key_has_none() -> None:
    library = RecordAggregator()
    library.add_user_record("a", b"1", "5")
    library.add_user_record("b", b"2")
    _, _, data = library.clear_and_get().get_contents()
    found = parse(data)
    assert found is not None
    assert [(it.key, it.data) for it in found.rows] == [("a", b"1"), ("b", b"2")]
    assert found.rows[0].hash_key == "5"


@given(st.binary(max_size=60))
def test_any_message_is_an_aggregate_or_a_plain_record(message: bytes) -> None:
    found = parse(MARK + message + md5(message, usedforsecurity=False).digest())
    assert found is None or found.rows or found.is_marker


@given(st.binary(max_size=100))
def test_other_bytes_are_a_plain_record(data: bytes) -> None:
    assert parse(data) is None
    assert parse(MARK + data + bytes(16)) is None


def test_the_library_leaves_no_trace_in_the_path() -> None:
    program = (
        "import sys; from spark_kinesis.tools.aggregates import _messages; before = list(sys.path);"
        "_messages(); sys.exit(before != sys.path)"
    )
    assert subprocess.run([sys.executable, "-c", program], check=False).returncode == 0
