"""Reads and writes: what is set on the readers and writers of Spark."""

from __future__ import annotations

import itertools
from datetime import timedelta
from pathlib import Path
from types import SimpleNamespace
from typing import Any

import numpy as np
import pytest

from spark_kinesis import (
    KinesisJarMissingError,
    KinesisSink,
    KinesisSource,
    Latest,
)


class Frame:
    """A streaming DataFrame that records the calls to its writer, and starts nothing."""

    def __init__(self) -> None:
        self.calls: dict[str, Any] = {}
        self.writeStream = self.readStream = self.sparkSession = self.read = self  # pyspark's names

    def options(self, **options: str) -> Frame:
        self.calls |= options
        return self

    def option(self, name: str, value: str) -> Frame:
        self.calls[name] = value
        return self

    def __getattr__(self, name: str) -> Any:
        def call(*said: Any) -> Frame:
            self.calls[name] = said
            return self

        return call


def test_write_stream_returns_the_writer_of_spark_with_everything_set() -> None:
    frame: Any = Frame()
    sink = KinesisSink(stream_name="s", linger=timedelta(seconds=1))
    writer: Any = sink.write_stream(frame, checkpoint_location=Path("c"), query_name="copy")
    assert writer is frame
    assert "start" not in writer.calls
    assert writer.calls["format"] == ("spark-kinesis",)
    assert writer.calls["queryName"] == ("copy",)
    assert {
        name: writer.calls[name] for name in ("streamName", "linger", "checkpointLocation")
    } == {
        "streamName": "s",
        "linger": "1000ms",
        "checkpointLocation": "c",
    }


def test_write_stream_needs_the_connector_before_the_start() -> None:
    class Bare(Frame):
        def load(self) -> None:
            message = "[DATA_SOURCE_NOT_FOUND] Failed to find the data source: spark-kinesis. "
            raise RuntimeError(message)

    frame: Any = Bare()
    with pytest.raises(KinesisJarMissingError):
        KinesisSink(stream_name="s").write_stream(frame)


def test_write_stream_sets_checkpoint_and_name_only_if_given() -> None:
    frame: Any = Frame()
    KinesisSink(stream_name="s").write_stream(frame)
    assert not {"checkpointLocation", "queryName", "trigger", "outputMode"} & frame.calls.keys()


@pytest.mark.parametrize(
    ("batches", "said"),
    [
        (7, "7"),
        (range(120, 125), "120-124"),
        ([5, 3, 4, 4, 9, 0], "0,3,4,5,9"),
        ({2, 1}, "1,2"),
        (np.arange(3), "0,1,2"),
        (np.int64(4), "4"),
        ([], ""),  # the connector refuses it
        ([-1], "-1"),  # the connector refuses it
        (range(5, 6), "5-5"),
        (range(10**18), f"0-{10**18 - 1}"),  # the connector refuses it
        (range(0, 6, 2), "0,2,4"),
        (range(6, 3, -1), "4,5,6"),
    ],
)
def test_a_replay_is_a_batch_read_with_the_batches_of_a_checkpoint(batches: Any, said: str) -> None:
    frame: Any = Frame()
    source = KinesisSource(stream_name="s", max_records_per_trigger=10, starting_position=Latest())
    number: Any = np.int8(1)
    assert source.replay(frame, checkpoint=Path("c"), batches=batches, source=number) is frame
    assert frame.calls["replayBatches"] == said
    assert frame.calls["replayCheckpoint"] == "c"
    assert frame.calls["replaySource"] == "1"
    assert frame.calls["maxRecordsPerTrigger"] == "10"
    source.replay(other := Frame(), checkpoint="s3a://b/c", batches=1)  # type: ignore[arg-type]
    assert "replaySource" not in other.calls


@pytest.mark.parametrize(
    ("said", "text"),
    [
        ({"checkpoint": 7, "batches": 1}, "expected str, bytes or os.PathLike object, not int"),
        ({"checkpoint": "c", "batches": "120-124"}, "'str' object cannot be interpreted as an int"),
    ],
)
def test_a_wrong_type_in_a_replay_is_refused(said: dict[str, Any], text: str) -> None:
    frame: Any = Frame()
    with pytest.raises(TypeError, match=text):
        KinesisSource(stream_name="s").replay(frame, **said)


@pytest.mark.parametrize("batches", [range(0, 10**18, 2), itertools.count()])
def test_too_many_batches_are_refused(batches: Any) -> None:
    frame: Any = Frame()
    with pytest.raises(ValueError, match="batches has more than 10,000 numbers"):
        KinesisSource(stream_name="s").replay(frame, checkpoint="c", batches=batches)


def test_a_streaming_source_has_the_name_that_is_given() -> None:
    frame: Any = Frame()
    source = KinesisSource(stream_name="s")
    source.read_stream(frame)
    assert "name" not in frame.calls
    source.read_stream(frame, name="orders")
    assert frame.calls["name"] == ("orders",)


def test_a_name_needs_a_spark_that_has_names() -> None:
    spark: Any = SimpleNamespace(version="4.1.0", readStream=object())
    with pytest.raises(ValueError, match=r"name='orders' requires Spark 4\.2 .* Spark 4\.1\.0"):
        KinesisSource(stream_name="s").read_stream(spark, name="orders")


def test_a_flow_function_of_a_pipeline_ignores_that_spark_refuses_the_schema() -> None:
    class Unasked(Frame):
        def __init__(self, message: str) -> None:
            super().__init__()
            self.message = message

        def load(self) -> Unasked:
            return self

        @property
        def schema(self) -> None:
            raise RuntimeError(self.message)

    source = KinesisSource(stream_name="s")
    message = "[ATTEMPT_ANALYSIS_IN_PIPELINE_QUERY_FUNCTION] Operations that trigger"
    flow: Any = Unasked(message)
    assert source.read_stream(flow) is flow
    again: Any = Unasked(message)
    assert source.read(again) is again
    other: Any = Unasked("[KINESIS_INVALID_OPTION] no such stream")
    with pytest.raises(RuntimeError, match="KINESIS_INVALID_OPTION"):
        source.read_stream(other)
