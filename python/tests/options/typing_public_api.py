"""Checked by mypy, never run: each ignored line must be an error, and no other."""

from __future__ import annotations

from datetime import datetime, timedelta, timezone
from typing import TYPE_CHECKING

from spark_kinesis import (
    AssumeRole,
    AtSequenceNumber,
    AtTimestamp,
    ByShard,
    ByStream,
    EnhancedFanOut,
    KinesisSink,
    KinesisSource,
    Latest,
    Profile,
    StaticCredentials,
    Watch,
    columns,
    schema,
    stop_gracefully,
    stop_on_sigterm,
    watch,
    with_kinesis,
)
from spark_kinesis.local import LocalKinesis
from spark_kinesis.tools import audit
from spark_kinesis.tools.top import Outlook, Snapshot

if TYPE_CHECKING:
    from collections.abc import Mapping

    from pyspark.sql import DataFrame, SparkSession
    from pyspark.sql.streaming.query import StreamingQuery


def right(builder: SparkSession.Builder, frame: DataFrame) -> StreamingQuery:
    spark = with_kinesis(builder, real_time=True).getOrCreate()
    keys = StaticCredentials(access_key_id="a", secret_access_key="b")
    source = KinesisSource(
        stream_name="s",
        credentials=keys,
        role=AssumeRole(arn="r"),
        starting_position=AtTimestamp(datetime.now(timezone.utc)),
        min_fetch_period=timedelta(milliseconds=200),
        max_records_per_trigger=10,
    )
    loaded: DataFrame = source.read_stream(spark)
    shards = ByShard({"shardId-1": AtSequenceNumber("1")}, others=Latest())
    KinesisSource(stream_name=["s", "t"]).read(spark)
    KinesisSource(stream_name="s", consumer=EnhancedFanOut(arn=["a", "b"])).read_stream(spark)
    KinesisSource(stream_name="s", ending_position=shards).read(spark).count()
    with LocalKinesis(streams={"s": 1}) as kinesis:
        KinesisSink(stream_name="s", **kinesis.access).write(frame)
        low, _ = kinesis.split("s")
        merged: str = kinesis.merge("s", low)
        kinesis.put("s", ["text", b"bytes", (merged, "text")])
        with kinesis.fault("throttle", operation="GetRecords", times=3) as fault:
            struck: int = fault.struck + len(kinesis.records("s")[0].data)
        kinesis.advance(timedelta(seconds=struck))
        names: list[str] = kinesis.client.list_streams()["StreamNames"]
        assert names == kinesis.streams
    KinesisSink(aggregation="kpl", dead_letter_path="letters").write(frame)
    sink = KinesisSink(
        stream_arn="arn", credentials=Profile(name="p"), ordering="per_key", order_by="seq"
    )
    fields: list[str] = [columns.DATA, *schema.fieldNames()]
    loaded.select(fields)
    options: Mapping[str, str] = source.options()
    loaded.writeStream.options(**options)
    KinesisSource(
        stream_name="s",
        starting_position=ByStream({"s": ByShard({"0": "latest"}, others="trim_horizon")}),
        ending_position=AtTimestamp.ago(timedelta(hours=1)),
    )
    writer = sink.write_stream(loaded, checkpoint_location="c", query_name="copy")
    query = writer.trigger(availableNow=True).outputMode("update").start()
    stop_on_sigterm(spark, timeout=timedelta(seconds=20))
    view: Watch = watch(query, interval=timedelta(seconds=5))
    seen: Snapshot = view.snapshot
    is_late: bool = seen.forecast.outlook is Outlook.LOSES_DATA
    view.wait(timedelta(minutes=is_late))
    between_batches: bool = stop_gracefully(query, timedelta(minutes=1))
    assert between_batches == all(it.is_clean for it in audit(source, spark))
    return query


def wrong(frame: DataFrame, query: StreamingQuery) -> None:
    stop_gracefully(query, 60)  # type: ignore[arg-type]
    KinesisSource("s")  # type: ignore[call-arg]
    KinesisSource(stream_name="s", starting_position={"table": "app"})  # type: ignore[arg-type]
    KinesisSource(stream_name="s", min_fetch_period=200)  # type: ignore[arg-type]
    KinesisSource(stream_name="s", starting_position=Latest)  # type: ignore[arg-type]
    KinesisSource(stream_name="s").read_stream(None)  # type: ignore[arg-type]
    start = AtSequenceNumber("1")
    KinesisSource(stream_name="s", starting_position=start)  # type: ignore[arg-type]
    KinesisSink(stream_name=["s", "t"])  # type: ignore[arg-type]
    KinesisSink(stream_name="s", credentials=("a", "b"))  # type: ignore[arg-type]
    KinesisSink(stream_name="s", ordering="perKey")  # type: ignore[arg-type]
    KinesisSink(stream_name="s", linger=100)  # type: ignore[arg-type]
    KinesisSink(stream_name="s").write_stream(frame, trigger="once")  # type: ignore[call-arg]
    KinesisSink(stream_name="s").options()["linger"] = "1s"  # type: ignore[index]
    ByShard({}, others=AtSequenceNumber("1"))  # type: ignore[arg-type]
    ByShard({}, others=Latest()).shards["0"] = Latest()  # type: ignore[index]
    LocalKinesis(quotas="on")  # type: ignore[arg-type]
    LocalKinesis({"s": 1})  # type: ignore[call-arg]
    LocalKinesis(clock="simulatd")  # type: ignore[arg-type]
    LocalKinesis().client.list_streamz()  # type: ignore[attr-defined]
    LocalKinesis().fault("explode")  # type: ignore[arg-type]
    LocalKinesis().put("s", [1])  # type: ignore[list-item]
