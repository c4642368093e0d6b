"""Data loss: expired records, shards that would be skipped, and streams that were replaced."""

from __future__ import annotations

from datetime import timedelta
from typing import TYPE_CHECKING

import pytest

from tests.e2e.support.harness import Collector, drain, running
from tests.e2e.support.streams import Stream, local_kinesis, wait_for

if TYPE_CHECKING:
    from collections.abc import Iterator
    from pathlib import Path

    from pyspark.sql import SparkSession
    from pyspark.sql.streaming.query import StreamingQuery

    from spark_kinesis.local import LocalKinesis

STOP = timedelta(hours=30)
"""Longer than the stream's retention of 24 hours."""


@pytest.fixture
def kinesis_of_old() -> Iterator[LocalKinesis]:
    """A local Kinesis with a simulated clock."""
    with local_kinesis(clock="simulated") as kinesis:
        yield kinesis


@pytest.fixture
def orders(kinesis_of_old: LocalKinesis) -> Stream:
    """A stream of that local Kinesis."""
    return Stream(kinesis_of_old.endpoint)


def read_all(spark: SparkSession, stream: Stream, checkpoint: Path) -> Collector:
    """Run a query until it has read all records, and no batch would be repeated."""
    collector = Collector()
    with running(spark, stream.source(), checkpoint, collector) as query:
        drain(stream, query, collector)
        query.processAllAvailable()
    return collector


def failure(spark: SparkSession, stream: Stream, checkpoint: Path, **options: object) -> str:
    """The error of a query on this checkpoint."""
    with running(spark, stream.source(**options), checkpoint, Collector()) as query:
        with pytest.raises(Exception, match="KINESIS") as failed:
            query.awaitTermination(60)
        return str(failed.value)


def lost_ranges(query: StreamingQuery) -> int:
    """The metrics in the latest progress."""
    progress = query.lastProgress
    return int(progress["sources"][0]["metrics"]["lostRanges"]) if progress else 0


def test_a_stop_longer_than_the_retention_is_data_loss(
    spark: SparkSession, kinesis_of_old: LocalKinesis, orders: Stream, checkpoint: Path
) -> None:
    orders.put(20)
    read_all(spark, orders, checkpoint)
    kinesis_of_old.advance(STOP)
    before = len(orders.written)
    orders.put(20)

    said = failure(spark, orders, checkpoint)
    assert "KINESIS_DATA_LOSS" in said
    assert orders.name in said
    assert "shardId-" in said
    assert "retains records for 24 h: up to 6 h" in said
    assert "failOnDataLoss" in said

    collector = Collector()
    source = orders.source(fail_on_data_loss=False)
    with running(spark, source, checkpoint, collector) as query:
        collector.wait(query, orders.written[before:])
        wait_for("the losses are counted", lambda: lost_ranges(query) == len(orders.open_shards()))


def test_a_stop_over_expired_reshards_is_data_loss(
    spark: SparkSession, kinesis_of_old: LocalKinesis, checkpoint: Path
) -> None:
    stream = Stream(kinesis_of_old.endpoint, shards=1)
    stream.put(20)
    read_all(spark, stream, checkpoint)
    stream.split()
    stream.split()
    stream.merge(1)
    kinesis_of_old.advance(STOP)
    before = len(stream.written)
    stream.put(60)

    said = failure(spark, stream, checkpoint)
    assert "KINESIS_DATA_LOSS" in said
    assert "shardId-000000000000" in said

    collector = Collector()
    source = stream.source(fail_on_data_loss=False, shard_discovery_interval=timedelta(seconds=1))
    with running(spark, source, checkpoint, collector) as query:
        collector.wait(query, stream.written[before:])
        stream.split()
        collector.wait(query, stream.fence())
        wait_for("the losses are counted", lambda: lost_ranges(query) > 1)
    rows = [(row.key, row.n) for row in collector.numbered()]
    assert sorted(rows) == sorted((w.key, w.n) for w in stream.written[before:])


@pytest.mark.parametrize("is_running", [True, False], ids=["running", "stopped"])
def test_a_stream_that_was_created_again_is_refused(
    spark: SparkSession,
    kinesis_of_old: LocalKinesis,
    orders: Stream,
    checkpoint: Path,
    is_running: bool,
) -> None:
    def again() -> None:
        orders.client.delete_stream(StreamName=orders.name)
        kinesis_of_old.advance(timedelta(minutes=1))
        orders.client.create_stream(StreamName=orders.name, ShardCount=2)

    orders.put(20)
    collector = Collector()
    with running(spark, orders.source(), checkpoint, collector) as query:
        drain(orders, query, collector)
        if is_running:
            again()
            # The query may notice between the two calls, while the stream does not exist.
            condition = r"KINESIS_STREAM_(RECREATED|DELETED).*new checkpoint"
            with pytest.raises(Exception, match=condition):
                query.awaitTermination(60)
    if not is_running:
        again()
    assert "KINESIS_STREAM_RECREATED" in failure(spark, orders, checkpoint)


def test_a_stream_deleted_while_a_query_reads_fails_it(
    spark: SparkSession, orders: Stream, checkpoint: Path
) -> None:
    orders.put(20)
    collector = Collector()
    with running(spark, orders.source(), checkpoint, collector) as query:
        drain(orders, query, collector)
        orders.client.delete_stream(StreamName=orders.name)
        with pytest.raises(Exception, match=f"KINESIS_STREAM_DELETED.*{orders.name}"):
            query.awaitTermination(60)
