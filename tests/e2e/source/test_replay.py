"""A replay returns the rows that a query received in each micro-batch."""

from __future__ import annotations

from typing import TYPE_CHECKING

import pytest
from pyspark.sql import functions

from spark_kinesis import columns, schema
from spark_kinesis.tools.cli import run
from tests.e2e.support.harness import Collector, collected, drain, running
from tests.e2e.support.streams import REGION, Stream, wait_for

if TYPE_CHECKING:
    from collections.abc import Callable
    from pathlib import Path

    from pyspark.sql import DataFrame, SparkSession

    from tests.e2e.support.verdict import Collected

pytestmark = pytest.mark.parametrize("kinesis", ["simulator"], indirect=True)


def rows(frame: DataFrame) -> list[Collected]:
    """The rows of a replay like those of a `Collector`: by batch, then by shard, then in order."""
    found = [collected(row, row[columns.BATCH_ID]) for row in frame.collect()]
    return sorted(found, key=lambda row: (row.batch, row.shard))


def logged(checkpoint: Path, log: str = "offsets") -> list[int]:
    """The batches in a log of Spark."""
    return sorted(int(file.name) for file in (checkpoint / log).glob("[0-9]*"))


def resharded(spark: SparkSession, stream: Stream, checkpoint: Path) -> Collector:
    """Run a query of many batches, twice, over a split and a merge."""
    collector = Collector()
    source = stream.source(max_records_per_trigger=25)
    for reshard in (stream.split, stream.merge):
        with running(spark, source, checkpoint, collector) as query:
            stream.put(80)
            collector.wait(query, stream.written)
            reshard()
            stream.put(80)
            drain(stream, query, collector)
    return collector


def test_the_rows_of_each_batch_come_again(
    spark: SparkSession, stream: Stream, checkpoint: Path
) -> None:
    collector = resharded(spark, stream, checkpoint)
    batches = logged(checkpoint)
    source = stream.source(max_records_per_trigger=25)
    assert rows(source.replay(spark, checkpoint=checkpoint, batches=batches)) == collector.rows
    for some in (batches[0], batches[3:5], batches[1::2]):
        wanted = {some} if isinstance(some, int) else set(some)
        again = source.replay(spark, checkpoint=checkpoint, batches=some)
        assert rows(again) == [row for row in collector.rows if row.batch in wanted]
    assert len({row.shard for row in collector.rows}) > 2, "no reshard"
    assert len({row.batch for row in collector.rows}) > 10, "few batches"


def test_the_columns_are_those_of_the_source_and_the_batch(
    spark: SparkSession, stream: Stream, checkpoint: Path
) -> None:
    stream.put(40)
    collector = Collector()
    with running(spark, stream.source(), checkpoint, collector) as query:
        drain(stream, query, collector)
    frame = stream.source().replay(spark, checkpoint=checkpoint, batches=logged(checkpoint))
    assert frame.columns == [*schema.names, columns.BATCH_ID]
    assert frame.schema[columns.BATCH_ID].dataType.simpleString() == "bigint"
    names = (columns.PARTITION_KEY, columns.STREAM_ARN, columns.ENCRYPTION_TYPE, columns.WRITER_ID)
    plain = stream.source().read(spark).select(*names)
    assert frame.select(*names).exceptAll(plain).count() == 0
    head = frame.select(columns.BATCH_ID, columns.STREAM_ARN).head()
    assert head is not None
    assert head[columns.STREAM_ARN].endswith(stream.name)
    shard = collector.rows[0].shard.split("/")[1]
    of_shard = frame.where(functions.col(columns.SHARD_ID) == shard)
    assert rows(of_shard) == [row for row in collector.rows if row.shard.endswith(shard)]
    assert frame.groupBy(columns.BATCH_ID).count().count() == len(
        {row.batch for row in collector.rows}
    )


def test_the_rows_of_aggregates_come_again(
    spark: SparkSession, stream: Stream, checkpoint: Path
) -> None:
    numbers = spark.range(500).selectExpr(
        "concat('key-', id % 5) AS partitionKey",
        "encode(concat('{\"key\": \"key-', id % 5, '\", \"n\": ', id, '}'), 'utf-8') AS data",
    )
    sink = stream.sink(aggregation="kpl", max_aggregate_records=20)
    sink.write(numbers)
    collector = Collector()
    with running(spark, stream.source(max_records_per_trigger=5), checkpoint, collector) as query:
        wait_for("all rows arrived", lambda: len(collector.rows) == 500 or not query.isActive)
    again = stream.source().replay(spark, checkpoint=checkpoint, batches=logged(checkpoint))
    assert rows(again) == collector.rows
    assert len({row.batch for row in collector.rows}) > 1
    packed = stream.source(deaggregate=False)
    records = packed.replay(spark, checkpoint=checkpoint, batches=logged(checkpoint))
    assert records.count() == len(stream.raw_records()) < 500


def test_the_source_of_a_query_with_several_is_chosen(
    spark: SparkSession, new_stream: Callable[..., Stream], checkpoint: Path
) -> None:
    streams = [new_stream(), new_stream()]
    for stream in streams:
        stream.put(30)
    collector = Collector()
    first, second = (stream.source().read_stream(spark) for stream in streams)
    writer = first.union(second).writeStream.foreachBatch(collector)
    query = writer.option("checkpointLocation", str(checkpoint)).start()
    try:
        for stream in streams:
            collector.wait(query, stream.written)
    finally:
        query.stop()
    batches = logged(checkpoint)
    for number, stream in enumerate(streams):
        again = stream.source().replay(spark, checkpoint=checkpoint, batches=batches, source=number)
        assert rows(again) == [row for row in collector.rows if row.shard.startswith(stream.name)]
    with pytest.raises(Exception, match=r"KINESIS_REPLAY_SOURCE.*'0', '1'.*Set 'replaySource'"):
        streams[0].source().replay(spark, checkpoint=checkpoint, batches=batches).collect()
    with pytest.raises(Exception, match="KINESIS_OTHER_STREAM"):
        streams[0].source().replay(
            spark, checkpoint=checkpoint, batches=batches, source=1
        ).collect()


def test_both_formats_of_the_log_are_read(
    spark: SparkSession, stream: Stream, checkpoint: Path
) -> None:
    stream.put(40)
    collector = Collector()
    setting = "spark.sql.streaming.offsetLog.formatVersion"  # older versions of Spark ignore it
    spark.conf.set(setting, "2")
    try:
        with running(spark, stream.source(), checkpoint, collector) as query:
            drain(stream, query, collector)
    finally:
        spark.conf.unset(setting)
    first, *_ = (checkpoint / "offsets" / "0").read_text().splitlines()
    assert first == "v2" or tuple(map(int, spark.version.split(".")[:2])) < (4, 3)
    again = stream.source().replay(spark, checkpoint=checkpoint, batches=logged(checkpoint))
    assert rows(again) == collector.rows


def test_a_batch_that_is_logged_and_not_complete_can_be_replayed(
    spark: SparkSession, stream: Stream, checkpoint: Path
) -> None:
    stream.put(40)

    def fail(frame: DataFrame, _: int) -> None:
        frame.count()
        raise RuntimeError("the sink fails")

    with running(spark, stream.source(), checkpoint, fail) as query:
        wait_for("the query fails", lambda: not query.isActive)
    assert logged(checkpoint) == [0]
    assert not list((checkpoint / "commits").glob("[0-9]*"))
    again = rows(stream.source().replay(spark, checkpoint=checkpoint, batches=0))
    collector = Collector()
    with running(spark, stream.source(), checkpoint, collector) as query:
        collector.wait(query, stream.written)
    assert again == [row for row in collector.rows if row.batch == 0]
    assert again


def test_a_replay_across_a_rewind_returns_the_rows_of_both_batches_with_their_own_numbers(
    spark: SparkSession, stream: Stream, checkpoint: Path
) -> None:
    collector, source = Collector(), stream.source()

    def read(count: int) -> None:
        with running(spark, source, checkpoint, collector) as query:
            wait_for("rows", lambda: len(collector.rows) == count or not query.isActive)
            wait_for("the end", lambda: logged(checkpoint, "commits") == logged(checkpoint))

    place = ["--checkpoint", str(checkpoint), "--endpoint", stream.endpoint, "--region", REGION]
    rewind = ["rewind", "--to", "trim_horizon", "--yes", "--watch", "0s", *place]
    stream.put(80)
    read(80)
    assert run(rewind) == 0
    read(80 + 80)  # the same records once more
    assert run(rewind) == 0
    stream.put(20)
    read(80 + 80 + 100)
    batches = logged(checkpoint)
    assert rows(source.replay(spark, checkpoint=checkpoint, batches=batches)) == collector.rows
    for batch in batches:
        again = rows(source.replay(spark, checkpoint=checkpoint, batches=batch))
        assert again == [row for row in collector.rows if row.batch == batch]
