"""Checked by mypy, never run: each ignored line must be an error, and no other."""

from __future__ import annotations

from datetime import datetime, timedelta, timezone
from typing import TYPE_CHECKING

from spark_kinesis import (
    AssumeRole,
    AtSequenceNumber,
    AtTimestamp,
    ByShard,
    KinesisSink,
    KinesisSource,
    Latest,
    Profile,
    StaticCredentials,
    with_kinesis,
)
from spark_kinesis.local import LocalKinesis

if TYPE_CHECKING:
    from pyspark.sql import DataFrame, SparkSession
    from pyspark.sql.streaming.query import StreamingQuery


def right(builder: SparkSession.Builder, frame: DataFrame) -> StreamingQuery:
    spark = with_kinesis(builder).getOrCreate()
    keys = StaticCredentials(access_key_id="a", secret_access_key="b")
    source = KinesisSource(
        stream_name="s",
        credentials=keys,
        role=AssumeRole(arn="r"),
        starting_position=AtTimestamp(datetime.now(timezone.utc)),
        min_fetch_period=timedelta(milliseconds=200),
        max_records_per_trigger=10,
    )
    loaded: DataFrame = source.load(spark)
    shards = ByShard({"shardId-1": AtSequenceNumber("1")}, others=Latest())
    KinesisSource(stream_name=["s", "t"]).read(spark)
    KinesisSource(stream_name="s", ending_position=shards).read(spark).count()
    with LocalKinesis(streams={"s": 1}) as kinesis:
        KinesisSink(stream_name="s", **kinesis.access).save(frame)
        low, high = kinesis.split("s")
        merged: str = kinesis.merge("s", low, high)
        kinesis.put("s", ["text", b"bytes", (merged, "text")])
        with kinesis.fault("throttle", operation="GetRecords", times=3) as fault:
            struck: int = fault.struck + len(kinesis.records("s")[0].data)
        kinesis.advance(timedelta(seconds=struck))
    KinesisSink(aggregation="kpl", dead_letter_path="letters").save(frame)
    sink = KinesisSink(
        stream_arn="arn", credentials=Profile(name="p"), ordering="per_key", order_by="seq"
    )
    return sink.start(loaded, checkpoint_location="c", trigger="available_now")


def wrong(frame: DataFrame) -> None:
    KinesisSource("s")  # type: ignore[call-arg]
    KinesisSource(stream_name="s", starting_position="latest")  # type: ignore[arg-type]
    KinesisSource(stream_name="s", min_fetch_period=200)  # type: ignore[arg-type]
    KinesisSource(stream_name="s", starting_position=Latest).load(None)  # type: ignore[arg-type]
    KinesisSource(stream_name="s", starting_position=AtSequenceNumber("1"))  # type: ignore[arg-type]
    KinesisSink(stream_name=["s", "t"])  # type: ignore[arg-type]
    KinesisSink(stream_name="s", credentials=("a", "b"))  # type: ignore[arg-type]
    KinesisSink(stream_name="s", ordering="perKey")  # type: ignore[arg-type]
    KinesisSink(stream_name="s", linger=100)  # type: ignore[arg-type]
    KinesisSink(stream_name="s").start(frame)  # type: ignore[call-arg]
    LocalKinesis(quotas="on")  # type: ignore[arg-type]
    LocalKinesis({"s": 1})  # type: ignore[call-arg]
    LocalKinesis().fault("explode")  # type: ignore[arg-type]
    LocalKinesis().put("s", [1])  # type: ignore[list-item]
