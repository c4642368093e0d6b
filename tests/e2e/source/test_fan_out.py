"""Queries that read by enhanced fan-out, through the typed source."""

from __future__ import annotations

from typing import TYPE_CHECKING

from spark_kinesis import EnhancedFanOut
from tests.e2e.support.harness import Collector, drain, running
from tests.e2e.support.streams import Stream
from tests.e2e.support.verdict import assert_exactly_once_in_order

if TYPE_CHECKING:
    from pathlib import Path

    from pyspark.sql import SparkSession
    from pyspark.sql.streaming.query import StreamingQuery


def consumers(stream: Stream) -> list[tuple[str, str]]:
    """ARN and status of each consumer of the stream, as boto3 sees them."""
    summary = stream.client.describe_stream_summary(StreamName=stream.name)
    arn = summary["StreamDescriptionSummary"]["StreamARN"]
    found = stream.client.list_stream_consumers(StreamARN=arn)["Consumers"]
    return [(it["ConsumerARN"], it["ConsumerStatus"]) for it in found]


def counter(query: StreamingQuery, name: str) -> int:
    """A metric of the source in the query's progress."""
    progress = query.lastProgress
    assert progress is not None
    return int(progress["sources"][0]["metrics"][name])


def test_a_query_reads_by_its_consumer_through_a_split_and_a_restart(
    spark: SparkSession, simulator: str, checkpoint: Path
) -> None:
    stream = Stream(simulator)
    source = stream.source(consumer=EnhancedFanOut(name="reports"))
    collector = Collector()
    stream.put(400)
    with running(spark, source, checkpoint, collector) as query:
        collector.wait(query, stream.written)
        stream.put(200)
        stream.split()
        stream.put(200)
        drain(stream, query, collector)
        assert counter(query, "subscriptions") >= 4  # two shards and the two of the split
        assert counter(query, "pushedBytes") > 0
    (registered,) = consumers(stream)
    stream.put(200)
    with running(spark, source, checkpoint, collector) as query:
        drain(stream, query, collector)
    assert_exactly_once_in_order(stream.written, collector.numbered())
    assert registered[1] == "ACTIVE"
    assert consumers(stream) == [registered]


def test_a_query_reads_by_its_consumer_from_each_server(
    spark: SparkSession, stream: Stream, checkpoint: Path
) -> None:
    source = stream.source(consumer=EnhancedFanOut(name="reports"))
    collector = Collector()
    for _ in range(2):
        stream.put(200)
        with running(spark, source, checkpoint, collector) as query:
            drain(stream, query, collector)
            stream.put(200)
            drain(stream, query, collector)
            assert counter(query, "subscriptions") >= 2
            assert counter(query, "pushedBytes") > 0
    assert_exactly_once_in_order(stream.written, collector.numbered())


def test_a_query_reads_by_a_consumer_that_it_cannot_register(
    spark: SparkSession, simulator: str, checkpoint: Path
) -> None:
    stream = Stream(simulator)
    summary = stream.client.describe_stream_summary(StreamName=stream.name)
    arn = summary["StreamDescriptionSummary"]["StreamARN"]
    made = stream.client.register_stream_consumer(StreamARN=arn, ConsumerName="theirs")
    source = stream.source(consumer=EnhancedFanOut(arn=made["Consumer"]["ConsumerARN"]))
    collector = Collector()
    stream.put(100)
    with running(spark, source, checkpoint, collector) as query:
        drain(stream, query, collector)
        assert counter(query, "subscriptions") >= 2
    assert_exactly_once_in_order(stream.written, collector.numbered())
    assert [found for found, _ in consumers(stream)] == [made["Consumer"]["ConsumerARN"]]
