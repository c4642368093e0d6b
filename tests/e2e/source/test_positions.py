"""Starting positions of streams and shards, and several streams in one query."""

from __future__ import annotations

import json
from collections import defaultdict
from typing import TYPE_CHECKING

import pytest

from tests.e2e.support.harness import Collector, Reading, running, wait_started
from tests.e2e.support.streams import Stream, Written
from tests.e2e.support.verdict import Collected, assert_exactly_once_in_order

if TYPE_CHECKING:
    from collections.abc import Callable
    from pathlib import Path

    from pyspark.sql import SparkSession
    from pyspark.sql.streaming.query import StreamingQuery


def put(stream: Stream, count: int) -> list[Written]:
    """Write records with keys that no other stream has."""
    before = len(stream.written)
    stream.put(count, tuple(f"{stream.name} {number}" for number in range(20)))
    return stream.written[before:]


def shards_of(rows: list[Collected]) -> dict[str, list[Collected]]:
    """The rows of each shard, in order."""
    shards: dict[str, list[Collected]] = defaultdict(list)
    for row in rows:
        shards[row.shard.partition("/")[2]].append(row)
    return shards


@pytest.mark.parametrize(("kind", "first"), [("at", 5), ("after", 6)])
def test_a_start_at_a_record_reads_from_there(
    spark: SparkSession, stream: Stream, checkpoint: Path, kind: str, first: int
) -> None:
    stream.put(80)
    stream.split()
    stream.put(80)
    everything = Collector()
    with running(spark, stream.source(), checkpoint / "all", everything) as query:
        everything.wait(query, stream.written)
    shards = shards_of(everything.rows)
    chosen = {shard: {kind: str(rows[5].sequence)} for shard, rows in shards.items()}
    start = {stream.name: {**chosen, "*": "trim_horizon"}}
    expected = [Written(row.key, row.n) for shard in shards for row in shards[shard][first:]]
    collector = Collector()
    source = Reading.of(stream, startingPosition=json.dumps(start))
    with running(spark, source, checkpoint / "part", collector) as query:
        collector.wait(query, expected)
        stream.put(40)
        expected += stream.written[-40:]
        collector.wait(query, expected)
        collector.wait(query, stream.fence())
    assert_exactly_once_in_order(expected, collector.numbered())


def test_each_stream_has_its_own_starting_position(
    spark: SparkSession, new_stream: Callable[..., Stream], checkpoint: Path
) -> None:
    orders, refunds = new_stream(), new_stream()
    put(orders, 60)
    put(refunds, 60)
    start = {orders.name: "trim_horizon", refunds.name: "latest"}
    source = Reading.of(orders, refunds, startingPosition=json.dumps(start))
    collector = Collector()
    with running(spark, source, checkpoint, collector) as query:
        wait_started(checkpoint)
        expected = orders.written + put(refunds, 60)
        collector.wait(query, expected)
        collector.wait(query, orders.fence() + refunds.fence())
    assert_exactly_once_in_order(expected, collector.numbered())


def finished(collector: Collector, query: StreamingQuery, *streams: Stream) -> None:
    """Wait until all records of these streams have arrived."""
    for stream in streams:
        collector.wait(query, stream.written)
    for stream in streams:
        collector.wait(query, stream.fence())


def test_streams_are_added_and_removed(
    spark: SparkSession, new_stream: Callable[..., Stream], checkpoint: Path
) -> None:
    orders, refunds = new_stream(), new_stream(shards=1)
    collector = Collector()
    put(orders, 60)
    with running(spark, Reading.of(orders), checkpoint, collector) as query:
        finished(collector, query, orders)
    put(refunds, 60)
    orders.split()
    put(orders, 60)
    with running(spark, Reading.of(orders, refunds), checkpoint, collector) as query:
        finished(collector, query, orders, refunds)
        refunds.split()
        put(refunds, 60)
        finished(collector, query, orders, refunds)
    left = put(refunds, 20)
    with (
        pytest.raises(Exception, match=f"KINESIS_STREAM_REMOVED.*{refunds.name}"),
        running(spark, Reading.of(orders), checkpoint, collector) as query,
    ):
        query.awaitTermination(60)
    put(orders, 60)
    without = Reading.of(orders, allowStreamRemoval="true")
    with running(spark, without, checkpoint, collector) as query:
        finished(collector, query, orders)
    read = [written for written in orders.written + refunds.written if written not in left]
    assert_exactly_once_in_order(read, collector.numbered())


def test_one_query_reads_two_streams(
    spark: SparkSession, new_stream: Callable[..., Stream], checkpoint: Path
) -> None:
    streams = [new_stream(), new_stream()]
    collector = Collector()
    for _ in range(2):
        for stream in streams:
            put(stream, 100)
            stream.split()
            put(stream, 100)
        with running(spark, Reading.of(*streams), checkpoint, collector) as query:
            finished(collector, query, *streams)
    written = [it for stream in streams for it in stream.written]
    assert_exactly_once_in_order(written, collector.numbered())


@pytest.mark.parametrize(
    ("position", "says"),
    [
        ('{"nowhere": "latest"}', "but not 'nowhere'"),
        ('{"NAME": {"shardId-000000000009": "latest", "*": "latest"}}', "the shard never existed"),
        ('{"NAME": {"*": {"at": "1"}}}', "valid in one shard only"),
        ("2999-01-01T00:00:00Z", "in the future"),
    ],
)
def test_an_impossible_start_is_refused_at_definition(
    spark: SparkSession, stream: Stream, position: str, says: str
) -> None:
    source = Reading.of(stream, startingPosition=position.replace("NAME", stream.name))
    for define in (source.read_stream, source.read):
        with pytest.raises(Exception, match=f"KINESIS_INVALID_OPTION.*{says}"):
            define(spark)
