"""A service that denies access or does not answer: the errors name the remedy."""

from __future__ import annotations

import os
from concurrent.futures import ThreadPoolExecutor
from datetime import timedelta
from typing import TYPE_CHECKING

import pytest

from spark_kinesis import KinesisSink, KinesisSource
from spark_kinesis.local import LocalEndpoint
from tests.e2e.support.harness import Collector, assert_ongoing, running
from tests.e2e.support.programs import run_app
from tests.e2e.support.streams import LOCAL, REGION, Stream, wait_for
from tests.e2e.support.stub_server import refusing, silent

if TYPE_CHECKING:
    from collections.abc import Callable
    from pathlib import Path

    from pyspark.sql import SparkSession
    from pyspark.sql.streaming.query import StreamingQuery

NAME = "orders"
SAID = "User: arn:aws:iam::123456789012:user/me is not authorized"
on_simulator = pytest.mark.parametrize("kinesis", ["simulator"], indirect=True)
DENIALS = [
    ("AccessDeniedException", "KINESIS_ACCESS_DENIED", "Allow this action on the stream"),
    (
        "UnrecognizedClientException",
        "KINESIS_BAD_CREDENTIALS",
        "Check the keys, profile, provider class or role",
    ),
]


def failure_of_query(spark: SparkSession, endpoint: str, checkpoint: Path) -> str:
    """The error of a query, which must end by itself within two minutes."""
    source = KinesisSource(stream_name=NAME, region=REGION, endpoint=endpoint, credentials=LOCAL)
    with (
        pytest.raises(Exception, match="KINESIS_") as raised,
        running(spark, source, checkpoint, Collector()) as query,
    ):
        assert query.awaitTermination(120), "the query hangs"
    return str(raised.value)


def failure_of_write(spark: SparkSession, endpoint: str) -> str:
    """The error of a batch write."""
    sink = KinesisSink(stream_name=NAME, region=REGION, endpoint=endpoint, credentials=LOCAL)
    frame = spark.createDataFrame([("k", "x")], "partitionKey string, data string")
    with pytest.raises(Exception, match="KINESIS_") as raised:
        sink.write(frame)
    return str(raised.value)


def assert_says(text: str, condition: str, *words: str, name: str = NAME) -> None:
    """Check that one line of the error has all parts."""
    lines = [line for line in text.splitlines() if f"[{condition}]" in line]
    assert lines, text
    for word in (f"stream {name}", f"region {REGION}", *words):
        assert word in lines[0]


@pytest.mark.service
@pytest.mark.parametrize(("code", "condition", "remedy"), DENIALS)
def test_denied_access_names_action_and_stream(
    spark: SparkSession, checkpoint: Path, code: str, condition: str, remedy: str
) -> None:
    with refusing(code, SAID) as endpoint:
        for text in (
            failure_of_query(spark, endpoint, checkpoint),
            failure_of_write(spark, endpoint),
        ):
            assert_says(text, condition, f"endpoint {endpoint}", SAID, remedy)


@pytest.mark.service
def test_a_silent_endpoint_is_unreachable(spark: SparkSession, checkpoint: Path) -> None:
    with silent() as endpoint:
        text = failure_of_query(spark, endpoint, checkpoint)
        assert_says(text, "KINESIS_UNREACHABLE", f"endpoint {endpoint}", "Check region, endpoint")


@on_simulator
@pytest.mark.service
def test_missing_credentials_raise_an_error(stream: Stream, tmp_path: Path) -> None:
    env = {name: value for name, value in os.environ.items() if not name.startswith("AWS_")}
    env |= {
        "HOME": str(tmp_path),
        "AWS_EC2_METADATA_DISABLED": "true",
        "AWS_CONFIG_FILE": str(tmp_path / "no-config"),
        "AWS_SHARED_CREDENTIALS_FILE": str(tmp_path / "no-credentials"),
    }
    checkpoint = str(tmp_path / "checkpoint")
    arguments = (stream.endpoint, NAME, checkpoint)
    said = run_app("no_credentials", *arguments, cwd=tmp_path, env=env).stdout
    source, _, sink = said.partition("sink: ")
    for text in (source, sink):
        assert_says(
            text,
            "KINESIS_BAD_CREDENTIALS",
            f"endpoint {stream.endpoint}",
            "Check the keys, profile, provider class or role",
        )


def patient_sink(stream: Stream) -> KinesisSink:
    """A sink that retries for minutes, so that a timeout cannot hide the error."""
    return stream.sink(delivery_timeout=timedelta(minutes=3), max_in_flight_requests=1)


def ending_of(query: StreamingQuery) -> str:
    """The error of a query that ends by itself."""
    try:
        with pytest.raises(Exception, match="KINESIS_") as raised:
            assert query.awaitTermination(120), "the query hangs"
    finally:
        query.stop()
    return str(raised.value)


@on_simulator
@pytest.mark.service
@pytest.mark.parametrize("operation", ["DescribeStreamSummary", "ListShards", "PutRecords"])
def test_each_denied_action_of_a_sink_is_named(
    spark: SparkSession, new_stream: Callable[..., Stream], checkpoint: Path, operation: str
) -> None:
    inlet, outlet = new_stream(shards=1), new_stream()
    inlet.put(10)
    server = LocalEndpoint(outlet.endpoint)
    frame = inlet.source().read_stream(spark).select("partitionKey", "data")
    with server.fault("access-denied", operation=operation, stream=outlet.name) as denied:
        query = patient_sink(outlet).write_stream(frame, checkpoint_location=checkpoint).start()
        streaming = ending_of(query)
        with pytest.raises(Exception, match="KINESIS_") as batch:
            patient_sink(outlet).write(
                spark.createDataFrame([("k", "x")], "partitionKey string, data string")
            )
        assert denied.struck == 2, "a permanent failure is not retried"
    for text in (streaming, str(batch.value)):
        said = f"{operation} of stream {outlet.name}"
        remedy = "Allow this action on the stream"
        assert_says(text, "KINESIS_ACCESS_DENIED", said, remedy, name=outlet.name)
    assert outlet.read_all() == []


@on_simulator
def test_a_stream_deleted_while_a_query_writes_fails_it(
    spark: SparkSession, stream: Stream, checkpoint: Path
) -> None:
    outlet = Stream(stream.endpoint)
    stream.put(100)
    frame = stream.source().read_stream(spark).select("partitionKey", "data")
    query = patient_sink(outlet).write_stream(frame, checkpoint_location=checkpoint).start()
    try:
        wait_for("the first records", lambda: len(outlet.read_all()) == 100)
    finally:
        outlet.client.delete_stream(StreamName=outlet.name)
        stream.put(100)
        text = ending_of(query)
    assert_says(text, "KINESIS_STREAM_NOT_FOUND", "Check the stream's name", name=outlet.name)


def test_a_stream_deleted_during_a_batch_write_fails_it(
    spark: SparkSession, simulator: str
) -> None:
    outlet = Stream(simulator)
    rows = spark.range(0, 20_000, 1, 2).selectExpr("string(id) AS data")
    slow = {"operation": "PutRecords", "stream": outlet.name, "seconds": 0.2}
    server = LocalEndpoint(simulator)
    with ThreadPoolExecutor(1) as pool, server.fault("stall", **slow):  # type: ignore[arg-type]
        save = pool.submit(patient_sink(outlet).write, rows)

        def has_begun() -> bool:
            assert_ongoing(save)
            return bool(outlet.read_all())

        wait_for("the first records", has_begun)
        outlet.client.delete_stream(StreamName=outlet.name)
    with pytest.raises(Exception, match="KINESIS_") as raised:
        save.result()
    text = str(raised.value)
    said = f"PutRecords of stream {outlet.name}"
    assert_says(text, "KINESIS_STREAM_NOT_FOUND", said, "Check the stream's name", name=outlet.name)
