"""A replay that cannot return the rows of a micro-batch says why."""

from __future__ import annotations

import shutil
from typing import TYPE_CHECKING, Any

import pytest

from spark_kinesis import columns
from tests.e2e.source.test_replay import logged
from tests.e2e.support.harness import Collector, Reading, drain, running
from tests.e2e.support.streams import Stream, wait_for

if TYPE_CHECKING:
    from collections.abc import Callable
    from pathlib import Path

    from pyspark.sql import SparkSession

pytestmark = pytest.mark.parametrize("kinesis", ["simulator"], indirect=True)


@pytest.fixture
def finished(spark: SparkSession, stream: Stream, checkpoint: Path) -> Path:
    """The checkpoint of a query that has read at least four batches."""
    collector = Collector()
    stream.put(60)
    with running(spark, stream.source(max_records_per_trigger=20), checkpoint, collector) as query:
        drain(stream, query, collector)
    return checkpoint


def refused(spark: SparkSession, stream: Stream, says: str, **replay: Any) -> None:
    """Check that a replay fails with this text when it runs."""
    frame = stream.source().replay(spark, **replay)
    with pytest.raises(Exception, match=says):
        frame.collect()


def test_batches_that_the_log_lacks_are_refused(
    spark: SparkSession, stream: Stream, finished: Path
) -> None:
    *old, first, second, last = logged(finished)
    refused(
        spark,
        stream,
        rf"KINESIS_BATCH_NOT_LOGGED.*batch {last + 1} read: the last batch .* is {last} ",
        checkpoint=finished,
        batches=[last, last + 1],
    )
    for batch in old:
        (finished / "offsets" / str(batch)).unlink()
    # The first batch that is still logged begins where a batch that is not logged ended.
    refused(
        spark,
        stream,
        rf"KINESIS_BATCH_NOT_LOGGED.*batch {old[-1]} to {first} read.*minBatchesToRetain"
        rf".*replayed: {second} to {last}\. ",
        checkpoint=finished,
        batches=[old[-1], first, second],
    )


def test_what_is_no_checkpoint_of_the_stream_is_refused(
    spark: SparkSession, stream: Stream, finished: Path, new_stream: Callable[..., Stream]
) -> None:
    refused(
        spark,
        stream,
        "KINESIS_CHECKPOINT_UNREADABLE.*no folder 'offsets'",
        checkpoint=finished / "offsets",
        batches=0,
    )
    other = new_stream()
    says = f"KINESIS_OTHER_STREAM.*{stream.name}.*{other.name}"
    refused(spark, other, says, checkpoint=finished, batches=0)
    rate = finished.parent / "rate"
    frame = spark.readStream.format("rate").option("rowsPerSecond", "10").load()
    writer = frame.writeStream.format("noop").option("checkpointLocation", str(rate))
    query = writer.trigger(availableNow=True).start()
    query.awaitTermination()
    says = "KINESIS_REPLAY_SOURCE.*Sources of this connector: none"
    refused(spark, stream, says, checkpoint=rate, batches=0)
    shutil.rmtree(finished / "sources")
    says = "KINESIS_CHECKPOINT_UNREADABLE.*sources/0/initial-offset.json"
    refused(spark, stream, says, checkpoint=finished, batches=0)


def test_a_stream_that_was_made_again_is_refused(
    spark: SparkSession, stream: Stream, finished: Path
) -> None:
    stream.client.delete_stream(StreamName=stream.name)
    wait_for("it is gone", lambda: stream.name not in stream.client.list_streams()["StreamNames"])
    stream.client.create_stream(StreamName=stream.name, ShardCount=1)
    stream.wait_active()
    refused(spark, stream, "KINESIS_STREAM_RECREATED", checkpoint=finished, batches=0)


def test_options_that_contradict_a_replay_are_refused(
    spark: SparkSession, stream: Stream, finished: Path
) -> None:
    replay = {"replayCheckpoint": str(finished), "replayBatches": "0-1"}
    streaming = Reading.of(stream, **replay).read_stream(spark)
    writer = streaming.writeStream.format("noop")
    with pytest.raises(Exception, match=r"KINESIS_CONFLICTING_OPTIONS.*'replayCheckpoint' applies"):
        writer.option("checkpointLocation", str(finished.parent / "x")).start().awaitTermination(60)
    with pytest.raises(Exception, match=r"KINESIS_MISSING_OPTION.*'replayBatches' is missing"):
        Reading.of(stream, replayCheckpoint=str(finished)).read(spark).collect()
    both = Reading.of(stream, **replay).read(spark).select(columns.BATCH_ID).distinct()
    assert {row[0] for row in both.collect()} == {0, 1}
