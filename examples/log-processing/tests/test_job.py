"""The whole job: a local Kinesis, DynamoDB and EventBridge of moto, and Spark."""

from __future__ import annotations

import gzip
import json
import time
from typing import TYPE_CHECKING, Any

import aws
import pytest
from pyspark.sql import SparkSession

from log_processing import progress
from log_processing.job import ship_package, start
from log_processing.settings import Settings
from log_processing.table import keys
from spark_kinesis import with_kinesis
from spark_kinesis.local import LocalKinesis

if TYPE_CHECKING:
    from collections.abc import Iterator
    from pathlib import Path

EVENTS = 120
GARBAGE = [b"not JSON", b'{"level": "INFO", "service": "a", "message": "no time"}', b"\x1f\x8bcut"]


@pytest.fixture(scope="module")
def spark() -> Iterator[SparkSession]:
    builder = SparkSession.builder.master("local[2]").config("spark.ui.enabled", "false")
    session = with_kinesis(builder.config("spark.sql.shuffle.partitions", "2")).getOrCreate()
    session.sparkContext.setLogLevel("ERROR")
    ship_package(session)
    yield session
    session.stop()


def event(number: int, now_ms: int) -> dict[str, Any]:
    level = "error" if number % 10 == 0 else "INFO"
    return {
        "timestamp": now_ms,
        "level": level,
        "service": f"service-{number % 3}",
        "message": f"message {number}",
        "context": {"number": number},
    }


def payload(now_ms: int) -> bytes:
    entries = [
        {"id": "1", "timestamp": now_ms, "message": "ERROR out of memory"},
        {"id": "2", "timestamp": now_ms, "message": json.dumps(event(7, now_ms))},
        {"id": "3", "message": "without a time"},
    ]
    fields = {"messageType": "DATA_MESSAGE", "owner": "1", "logGroup": "group", "logStream": "s"}
    return gzip.compress(json.dumps({**fields, "logEvents": entries}).encode())


def test_each_event_is_stored_alerted_or_kept(
    spark: SparkSession, moto: str, tmp_path: Path
) -> None:
    now_ms = time.time_ns() // 1_000_000
    with LocalKinesis(streams={"orders": 2, "refunds": 1}) as kinesis:
        settings = Settings(
            table=aws.TABLE,
            streams="orders,refunds",
            bus=aws.BUS,
            checkpoint=str(tmp_path / "checkpoint"),
            bad_events=str(tmp_path / "bad"),
            kinesis_endpoint=kinesis.endpoint,
            dynamodb_endpoint=moto,
            events_endpoint=moto,
            once=True,
        )
        texts = [json.dumps(event(n, now_ms)) for n in range(EVENTS)]
        kinesis.put("orders", [(str(n), text) for n, text in enumerate(texts)])
        kinesis.put("refunds", [("key", data) for data in [*GARBAGE, payload(now_ms)]])
        start(spark, settings).awaitTermination()
        first = aws.items(moto)
        kinesis.put("orders", [("key", texts[0])])
        start(spark, settings).awaitTermination()

    stored = [item for item in first if "message" in item]
    assert len(stored) == EVENTS + 2
    assert {item["message"]["S"] for item in stored} == {
        *(f"message {n}" for n in range(EVENTS)),
        "ERROR out of memory",
    }
    assert all(item["pk"]["S"].endswith(f"#b{keys.bucket(item['sk']['S'])}") for item in stored)
    assert all(int(item["storedAt"]["N"]) >= int(item["arrival"]["N"]) for item in stored)
    bad = spark.read.parquet(settings.bad_events).collect()
    assert sorted(row.reason for row in bad) == ["undated", "undated", "unparsable", "unparsable"]
    assert {bytes(row.data) for row in bad} > set(GARBAGE)

    done = progress_of(first)
    assert sum(one.events for one in done) == EVENTS + 2
    assert sum(one.bad for one in done) == len(bad)
    assert sum(one.errors for one in done) == EVENTS // 10 + 1
    assert {shard.stream for one in done for shard in one.shards} == {"orders", "refunds"}
    assert aws.published(moto) == EVENTS // 10 + 2  # and the one of the second run
    after = aws.items(moto)
    assert len([item for item in after if "message" in item]) == len(stored) + 1
    assert len(progress_of(after)) == len(done) + 1


def progress_of(items: list[dict[str, Any]]) -> list[progress.Progress]:
    return [progress.from_json(item["progress"]["S"]) for item in items if "progress" in item]
