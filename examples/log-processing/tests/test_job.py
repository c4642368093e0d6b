"""Both queries on Spark, with a local Kinesis, and DynamoDB and EventBridge of moto."""

from __future__ import annotations

import json
import os
import time
from typing import TYPE_CHECKING, Any

import pytest
from gate import Gate
from pyspark.errors import StreamingQueryException
from pyspark.sql import SparkSession

from log_processing.job import run
from log_processing.settings import Settings
from spark_kinesis import with_kinesis
from spark_kinesis.local import LocalKinesis
from trial.oracle import compare, expected, kept_in, place_of
from trial.run import UNDATED, payload
from trial.services import BUS, SOURCES, TABLE, published, stored

if TYPE_CHECKING:
    from collections.abc import Iterator
    from pathlib import Path

EVENTS = 120


@pytest.fixture(scope="module")
def spark() -> Iterator[SparkSession]:
    builder = SparkSession.builder.master("local[2]").config("spark.ui.enabled", "false")
    builder = with_kinesis(builder.config("spark.sql.shuffle.partitions", "2"))
    with pytest.MonkeyPatch.context() as patch:  # Spark's Python workers need the package, too
        patch.setenv("PYTHONPATH", str(SOURCES), prepend=os.pathsep)
        session = builder.getOrCreate()
        session.sparkContext.setLogLevel("OFF")
        yield session
        session.stop()


@pytest.fixture
def kinesis() -> Iterator[LocalKinesis]:
    """A stream with events, errors and bad events."""
    with LocalKinesis(streams={"orders": 2}) as local:
        put(local, EVENTS)
        yield local


def put(kinesis: LocalKinesis, count: int) -> None:
    records: list[Any] = [
        (
            str(number),
            json.dumps(
                {
                    "timestamp": time.time_ns() // 1_000_000,
                    "level": ("INFO", "error", "FATAL")[number % 3],
                    "service": f"service-{number % 5}",
                    "message": f"message {number}",
                }
            ),
        )
        for number in range(count)
    ]
    kinesis.put("orders", [*records, ("key", payload()), ("key", UNDATED), ("key", b"\x1f\x8bcut")])


def settings(kinesis: LocalKinesis, dynamodb: str, events: str, folder: Path) -> Settings:
    return Settings(
        stream="orders",
        table=TABLE,
        bus=BUS,
        checkpoint=str(folder / "checkpoint"),
        bad_events=str(folder / "bad"),
        write_timeout=1,
        once=True,
        kinesis_endpoint=kinesis.endpoint,
        dynamodb_endpoint=dynamodb,
        events_endpoint=events,
    )


def balance(kinesis: LocalKinesis, moto: str, folder: Path) -> Any:
    should = expected(kinesis.records("orders"), "orders")
    keys = [(it["pk"]["S"], it["sk"]["S"]) for it in stored(moto)]
    return compare(should, keys, map(place_of, published(moto)), kept_in(folder / "bad"))


def test_each_event_is_stored_published_or_kept_and_a_restart_continues(
    spark: SparkSession, kinesis: LocalKinesis, moto: str, tmp_path: Path
) -> None:
    job = settings(kinesis, moto, moto, tmp_path)
    run(spark, job)
    first = balance(kinesis, moto, tmp_path)
    assert first.is_even, str(first)
    alerts = len(published(moto))
    assert (first.errors, first.bad, alerts) == (EVENTS * 2 // 3 + 1, 3, first.errors)
    put(kinesis, 3)
    run(spark, job)
    second = balance(kinesis, moto, tmp_path)
    assert second.is_even, str(second)
    assert len(published(moto)) == alerts + 3  # nothing was published again
    assert {it.name for it in (tmp_path / "checkpoint").iterdir()} == {"store", "alerts"}


@pytest.mark.parametrize("away", ["dynamodb", "events"])
def test_an_outage_of_one_service_leaves_the_other_query_alone(
    away: str, spark: SparkSession, kinesis: LocalKinesis, moto: str, tmp_path: Path
) -> None:
    gate = Gate(moto)
    gate.close()
    urls = {"dynamodb": moto, "events": moto, away: gate.url}
    job = settings(kinesis, urls["dynamodb"], urls["events"], tmp_path)
    with pytest.raises(StreamingQueryException):
        run(spark, job)
    during = balance(kinesis, moto, tmp_path)
    if away == "events":
        assert (during.missing, during.twice, during.published) == (0, 0, 0)
    else:
        assert (during.stored, during.published) == (0, during.errors)
    gate.open()
    run(spark, job)
    gate.close()
    after = balance(kinesis, moto, tmp_path)
    assert after.is_even, str(after)
