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
from log_processing.bad_events import check_folder
from log_processing.job import ship_package, start
from log_processing.settings import Settings
from log_processing.startup_checks import StartupError
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


def run_twice(spark: SparkSession, moto: str, folder: Path) -> list[dict[str, Any]]:
    """Run the job, and again after one event is there twice. Returns the items of the first run."""
    now_ms = time.time_ns() // 1_000_000
    with LocalKinesis(streams={"orders": 2, "refunds": 1}) as kinesis:
        settings = Settings(
            table=aws.TABLE,
            streams="orders,refunds",
            bus=aws.BUS,
            checkpoint=str(folder / "checkpoint"),
            bad_events=str(folder / "bad"),
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
    return first


def test_each_event_is_stored_alerted_or_kept(
    spark: SparkSession, moto: str, tmp_path: Path
) -> None:
    first = run_twice(spark, moto, tmp_path)
    stored = [item for item in first if "message" in item]
    assert len(stored) == EVENTS + 2
    assert {item["message"]["S"] for item in stored} == {
        *(f"message {n}" for n in range(EVENTS)),
        "ERROR out of memory",
    }
    assert all(item["pk"]["S"].endswith(f"#b{keys.bucket(item['sk']['S'])}") for item in stored)
    assert all(int(item["storedAt"]["N"]) >= int(item["arrival"]["N"]) for item in stored)
    assert aws.published(moto) == EVENTS // 10 + 2  # and the one of the second run
    after = aws.items(moto)
    assert len([item for item in after if "message" in item]) == len(stored) + 1
    assert len(progress_of(after)) == len(progress_of(first)) + 1
    bad = spark.read.parquet(str(tmp_path / "bad")).collect()
    assert sorted(row.reason for row in bad) == ["undated", "undated", "unparsable", "unparsable"]
    assert {bytes(row.data) for row in bad} > set(GARBAGE)
    assert_progress(progress_of(first), tmp_path / "checkpoint", len(bad))


def assert_progress(done: list[progress.Progress], checkpoint: Path, bad: int) -> None:
    """Check what the batches of the first run report."""
    query = json.loads((checkpoint / "metadata").read_text())["id"]
    assert {one.query for one in done} == {query}
    assert sum(one.events for one in done) == EVENTS + 2
    assert sum(one.bad for one in done) == bad
    assert sum(one.errors for one in done) == EVENTS // 10 + 1
    assert {shard.stream for one in done for shard in one.shards} == {"orders", "refunds"}


def test_the_folder_of_bad_events_is_tried_with_a_file_without_rows(
    spark: SparkSession, tmp_path: Path
) -> None:
    folder = tmp_path / "bad"
    for _ in range(2):
        check_folder(spark, str(folder))
    assert [it.name for it in folder.iterdir()] == ["run=check"]
    kept = spark.read.parquet(str(folder))
    assert kept.count() == 0
    assert {"reason", "detail", "data", "run", "batch"} < set(kept.columns)


def test_a_folder_of_bad_events_that_cannot_be_written_is_named(
    spark: SparkSession, tmp_path: Path
) -> None:
    (tmp_path / "file").touch()
    folder = f"{tmp_path}/file/bad"
    said = f"Folder of bad events '{folder}' cannot be written. Check its name and .*Exception: "
    with pytest.raises(StartupError, match=said):
        check_folder(spark, folder)


def progress_of(items: list[dict[str, Any]]) -> list[progress.Progress]:
    return [progress.from_json(item["progress"]["S"]) for item in items if "progress" in item]
