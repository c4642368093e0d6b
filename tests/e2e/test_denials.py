"""A service that refuses us, does not know us, or says nothing: named, with what to do."""

from __future__ import annotations

import os
from typing import TYPE_CHECKING

import pytest
from apps import run_app
from harness import Collector, running
from streams import LOCAL, REGION, Stream
from stub import refusing, silent

from spark_kinesis import KinesisSink, KinesisSource

if TYPE_CHECKING:
    from pathlib import Path

    from pyspark.sql import SparkSession

NAME = "orders"
SAID = "User: arn:aws:iam::123456789012:user/me is not authorized"
DENIALS = [
    ("AccessDeniedException", "KINESIS_ACCESS_DENIED", "Allow this action on the stream"),
    ("UnrecognizedClientException", "KINESIS_BAD_CREDENTIALS", "Check the keys, profile or role"),
]


def failure_of_query(spark: SparkSession, endpoint: str, checkpoint: Path) -> str:
    """What a query says that ends by itself within two minutes."""
    source = KinesisSource(stream_name=NAME, region=REGION, endpoint=endpoint, credentials=LOCAL)
    with (
        pytest.raises(Exception, match="KINESIS_") as raised,
        running(spark, source, checkpoint, Collector()) as query,
    ):
        assert query.awaitTermination(120), "the query hangs"
    return str(raised.value)


def failure_of_write(spark: SparkSession, endpoint: str) -> str:
    """What a batch write says."""
    sink = KinesisSink(stream_name=NAME, region=REGION, endpoint=endpoint, credentials=LOCAL)
    frame = spark.createDataFrame([("k", "x")], "partitionKey string, data string")
    with pytest.raises(Exception, match="KINESIS_") as raised:
        sink.save(frame)
    return str(raised.value)


def assert_says(text: str, condition: str, *words: str) -> None:
    """One line has it all."""
    lines = [line for line in text.splitlines() if f"[{condition}]" in line]
    assert lines, text
    for word in (f"stream {NAME}", f"region {REGION}", *words):
        assert word in lines[0]


@pytest.mark.parametrize(("code", "condition", "remedy"), DENIALS)
def test_who_may_not_is_told_what_and_where(
    spark: SparkSession, checkpoint: Path, code: str, condition: str, remedy: str
) -> None:
    with refusing(code, SAID) as endpoint:
        for text in (
            failure_of_query(spark, endpoint, checkpoint),
            failure_of_write(spark, endpoint),
        ):
            assert_says(text, condition, f"endpoint {endpoint}", SAID, remedy)


def test_a_silent_endpoint_is_unreachable(spark: SparkSession, checkpoint: Path) -> None:
    with silent() as endpoint:
        text = failure_of_query(spark, endpoint, checkpoint)
        assert_says(text, "KINESIS_UNREACHABLE", f"endpoint {endpoint}", "Check region, endpoint")


@pytest.mark.parametrize("kinesis", ["simulator"], indirect=True)
def test_no_credentials_at_all(stream: Stream, tmp_path: Path) -> None:
    env = {name: value for name, value in os.environ.items() if not name.startswith("AWS_")}
    env |= {
        "HOME": str(tmp_path),
        "AWS_EC2_METADATA_DISABLED": "true",
        "AWS_CONFIG_FILE": str(tmp_path / "no-config"),
        "AWS_SHARED_CREDENTIALS_FILE": str(tmp_path / "no-credentials"),
    }
    checkpoint = str(tmp_path / "checkpoint")
    arguments = (stream.endpoint, NAME, checkpoint)
    said = run_app("app_no_credentials", *arguments, cwd=tmp_path, env=env).stdout
    source, _, sink = said.partition("sink: ")
    for text in (source, sink):
        assert_says(
            text,
            "KINESIS_BAD_CREDENTIALS",
            f"endpoint {stream.endpoint}",
            "Check the keys, profile or role",
        )
