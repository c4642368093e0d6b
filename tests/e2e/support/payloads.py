"""Payloads as the documentation of their producers shows them, and what they decode to."""

from __future__ import annotations

import gzip
import json
from pathlib import Path
from typing import TYPE_CHECKING, Any

from pyspark.sql import Row, SparkSession, functions

from spark_kinesis import payloads

if TYPE_CHECKING:
    from collections.abc import Sequence

    from pyspark.sql import Column

GOLDEN = Path(__file__).resolve().parents[2] / "golden" / "payloads"
SAMPLES: dict[str, dict[str, Any]] = json.loads((GOLDEN / "samples.json").read_text("utf-8"))
SCHEMAS = {
    "cloudwatch_logs": "messageType STRING NOT NULL, logGroup STRING, "
    "logEvents ARRAY<STRUCT<timestamp: LONG, message: STRING>>",
    "event_bridge": "`detail-type` STRING, time TIMESTAMP, "
    "detail STRUCT<`instance-id`: STRING NOT NULL, state: STRING>",
    "dms": "data STRUCT<id: LONG NOT NULL, name: STRING>, "
    "`before-image` STRUCT<id: LONG, name: STRING>, "
    "metadata STRUCT<operation: STRING, `table-name`: STRING> NOT NULL",
    "debezium": "payload STRUCT<op: STRING, ts_ms: LONG, "
    "before: STRUCT<id: LONG, first_name: STRING>, after: STRUCT<id: LONG, first_name: STRING>>",
    "maxwell": "type STRING NOT NULL, data STRUCT<id: LONG, daemon: STRING>, "
    "old STRUCT<id: LONG, daemon: STRING>",
}
"""The schemas of the envelopes, for `json`."""

Outcome = tuple[Any, "str | None"]
"""A value, as dictionaries and lists, and a reason."""


def outcomes(spark: SparkSession, records: Sequence[bytes], decoded: Column) -> list[list[Outcome]]:
    """The outcomes of each record, whose column is ``data``."""
    rows = [(bytearray(data), str(number)) for number, data in enumerate(records)]
    frame = spark.createDataFrame(rows, "data BINARY, sequenceNumber STRING")
    found = frame.select("sequenceNumber", functions.inline(decoded)).collect()
    by_record: list[list[Outcome]] = [[] for _ in records]
    for row in found:
        by_record[int(row["sequenceNumber"])].append((plain(row["value"]), row["reason"]))
    return by_record


def plain(value: object) -> Any:
    """A value of a row without classes of Spark."""
    return value.asDict(recursive=True) if isinstance(value, Row) else value


def sample_outcomes(spark: SparkSession, name: str) -> list[list[Outcome]]:
    """The outcomes of a producer's documented messages."""
    messages = [json.dumps(it).encode() for it in SAMPLES[name]["messages"]]
    if name == "dynamodb":
        row = "id LONG NOT NULL, customer STRING, price DECIMAL(10, 2)"
        return outcomes(spark, messages, payloads.dynamodb("data", row))
    if name == "cloudwatch_logs":
        messages = [gzip.compress(it) for it in messages]
    return outcomes(spark, messages, payloads.json("data", SCHEMAS[name]))


def avro_long(number: int) -> bytes:
    """A number in Avro's encoding."""
    rest = (number << 1) ^ (number >> 63)
    found = bytearray()
    while rest > 0x7F:
        found.append(rest & 0x7F | 0x80)
        rest >>= 7
    return bytes([*found, rest])
