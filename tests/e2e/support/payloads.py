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
    "event_bridge": "`instance-id` STRING NOT NULL, state STRING",
    "dynamodb": "id LONG NOT NULL, customer STRING, price DECIMAL(10, 2)",
    "dms": "id LONG NOT NULL, name STRING",
    "debezium": "id LONG NOT NULL, first_name STRING, email STRING",
    "maxwell": "id LONG NOT NULL, daemon STRING",
}

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
    if name == "cloudwatch_logs":
        decoded = payloads.cloudwatch_logs("data")
        return outcomes(spark, [gzip.compress(it) for it in messages], decoded)
    return outcomes(spark, messages, getattr(payloads, name)("data", SCHEMAS[name]))


def avro_long(number: int) -> bytes:
    """A number in Avro's encoding."""
    rest = (number << 1) ^ (number >> 63)
    found = bytearray()
    while rest > 0x7F:
        found.append(rest & 0x7F | 0x80)
        rest >>= 7
    return bytes([*found, rest])
