"""Wrong options: the error comes at once, and names the option and the remedy."""

from __future__ import annotations

import socket
from dataclasses import replace
from typing import TYPE_CHECKING, Any

import pytest

from spark_kinesis import EnhancedFanOut
from tests.e2e.support.harness import Collector, running

if TYPE_CHECKING:
    from pathlib import Path

    from pyspark.sql import SparkSession

    from tests.e2e.support.streams import Stream

pytestmark = pytest.mark.parametrize("kinesis", ["simulator"], indirect=True)


def test_an_unknown_option_is_refused_with_the_nearest_name(
    spark: SparkSession, stream: Stream
) -> None:
    options = {**stream.source().options(), "startingPositoin": "latest"}
    with pytest.raises(Exception, match=r"startingPositoin.*startingPosition"):
        _ = spark.readStream.format("kinesis").options(**options).load().schema


def test_an_invalid_value_is_refused_with_its_option(spark: SparkSession, stream: Stream) -> None:
    options = {**stream.source().options(), "startingPosition": "yesterday"}
    with pytest.raises(Exception, match=r"startingPosition.*yesterday"):
        _ = spark.readStream.format("kinesis").options(**options).load().schema


def test_two_kinds_of_credentials_are_refused(spark: SparkSession, stream: Stream) -> None:
    options = {**stream.source().options(), "profile": "dev"}
    with pytest.raises(Exception, match="profile"):
        _ = spark.readStream.format("kinesis").options(**options).load().schema


@pytest.mark.parametrize(
    ("fields", "says"),
    [
        ({"stream_name": " "}, "KINESIS_INVALID_OPTION.*streamName"),
        ({"stream_name": ["orders", ""]}, "KINESIS_INVALID_OPTION.*streamName"),
        ({"stream_name": []}, "KINESIS_INVALID_OPTION.*streamName"),
        ({"stream_name": None}, "KINESIS_MISSING_OPTION.*streamName"),
        ({"stream_arn": "arn"}, "KINESIS_CONFLICTING_OPTIONS.*streamArn"),
        ({"consumer": EnhancedFanOut()}, "KINESIS_MISSING_OPTION.*consumerName"),
        (
            {"consumer": EnhancedFanOut(name="app", arn="arn")},
            "KINESIS_CONFLICTING_OPTIONS.*consumerArn",
        ),
    ],
)
def test_wrong_streams_and_consumers_are_refused_at_definition(
    spark: SparkSession, stream: Stream, tmp_path: Path, fields: dict[str, Any], says: str
) -> None:
    source = replace(stream.source(), **fields)
    with pytest.raises(Exception, match=says):
        source.read_stream(spark)
    with pytest.raises(Exception, match=says):
        source.read(spark)
    with pytest.raises(Exception, match=says):
        source.replay(spark, checkpoint=tmp_path, batches=0)


def test_a_missing_stream_is_refused_by_name(
    spark: SparkSession, stream: Stream, checkpoint: Path
) -> None:
    source = replace(stream.source(), stream_name="nowhere")
    with (
        pytest.raises(Exception, match=r"KINESIS_[A-Z_]+.*nowhere"),
        running(spark, source, checkpoint, Collector()) as query,
    ):
        query.awaitTermination(60)


def test_an_unreachable_endpoint_is_refused_by_name(
    spark: SparkSession, stream: Stream, checkpoint: Path
) -> None:
    with socket.socket() as holder:  # does not listen, and nobody else can take its port
        holder.bind(("127.0.0.1", 0))
        endpoint = f"127.0.0.1:{holder.getsockname()[1]}"
        source = replace(stream.source(), endpoint=f"http://{endpoint}")
        with (
            pytest.raises(Exception, match=rf"KINESIS_UNREACHABLE.*{endpoint}"),
            running(spark, source, checkpoint, Collector()) as query,
        ):
            query.awaitTermination(60)
