"""The connector at work: access-log lines in, counts per status out, and nothing goes missing.

A local Kinesis of two shards takes lines of a made-up web server. A PySpark query reads and parses
them and writes, for each micro-batch, one record per HTTP status to a second stream. Meanwhile one
shard is split, the query is stopped and started again from its checkpoint, and two shards are
merged. What arrived in the second stream is then held against what was written to the first.

Run it with `make demo`.
"""

from __future__ import annotations

import os
import sys
import tempfile
import threading
import time
from contextlib import closing
from functools import partial
from pathlib import Path
from typing import TYPE_CHECKING

import boto3
from demo_tally import Tally
from demo_traffic import read_counts, write_lines
from demo_view import View
from pyspark.sql import DataFrame, SparkSession
from pyspark.sql import functions as F  # noqa: N812 the name every Spark user knows

from spark_kinesis import KinesisSink, KinesisSource, TrimHorizon, with_kinesis
from spark_kinesis.local import LocalKinesis

if TYPE_CHECKING:
    from collections.abc import Callable
    from typing import Any

    from pyspark.sql.streaming.query import StreamingQuery

LINES, COUNTS = "access-log", "status-counts"
REQUEST = r'"GET (\S+)\?visit=(\d+) HTTP/1\.1" (\d{3})'
PATIENCE_SECONDS = 30.0


def parse(lines: DataFrame) -> DataFrame:
    """The columns of an access-log line that we count by."""
    text = F.col("data").cast("string")
    return lines.select(
        F.col("shardId").alias("shard"),
        F.col("sequenceNumber").alias("sequence"),
        F.col("partitionKey").alias("host"),
        F.regexp_extract(text, REQUEST, 2).cast("long").alias("visit"),
        F.regexp_extract(text, REQUEST, 3).alias("status"),
    )


def write_counts(sink: KinesisSink, lines: DataFrame, batch: int) -> None:
    """One record per status: its count, and which lines it counts."""
    line = F.struct("shard", "sequence", "host", "visit")
    per_status = parse(lines).groupBy("status").agg(F.collect_list(line).alias("lines"))
    body = F.struct(F.lit(batch).alias("batch"), "status", F.size("lines").alias("count"), "lines")
    sink.save(
        per_status.select(F.col("status").alias("partitionKey"), F.to_json(body).alias("data"))
    )


def start_session() -> SparkSession:
    """A quiet session of two cores."""
    os.environ.setdefault("PYSPARK_PYTHON", sys.executable)
    builder = (
        SparkSession.Builder()
        .master("local[2]")
        .appName("spark-kinesis demo")
        .config("spark.ui.enabled", "false")
        .config("spark.ui.showConsoleProgress", "false")
        .config("spark.sql.shuffle.partitions", "2")
        .config("spark.log.level", "ERROR")
    )
    return with_kinesis(builder).getOrCreate()


def open_shards(client: Any) -> list[dict[str, Any]]:
    """The shards that take writes, by hash key."""
    shards = client.list_shards(StreamName=LINES)["Shards"]
    is_open = [s for s in shards if "EndingSequenceNumber" not in s["SequenceNumberRange"]]
    return sorted(is_open, key=lambda s: int(s["HashKeyRange"]["StartingHashKey"]))


def split(client: Any) -> str:
    """Split the first open shard in half."""
    shard = open_shards(client)[0]
    bounds = shard["HashKeyRange"]
    middle = (int(bounds["StartingHashKey"]) + int(bounds["EndingHashKey"])) // 2
    client.split_shard(
        StreamName=LINES, ShardToSplit=shard["ShardId"], NewStartingHashKey=str(middle)
    )
    return f"{shard['ShardId']} split in two"


def merge(client: Any) -> str:
    """Merge the last two open shards."""
    left, right = (shard["ShardId"] for shard in open_shards(client)[-2:])
    client.merge_shards(StreamName=LINES, ShardToMerge=left, AdjacentShardToMerge=right)
    return f"{left} and {right} merged"


def story(view: View, client: Any, start: Callable[[], StreamingQuery]) -> StreamingQuery:
    """What happens while lines keep coming; returns the query that runs in the end."""
    view.happened("query started")
    query = start()
    view.watch(10)
    view.happened(split(client))
    view.watch(8)
    query.stop()
    view.happened("query stopped; lines keep coming")
    view.watch(4)
    query = start()
    view.happened("query started again from its checkpoint")
    view.watch(6)
    view.happened(merge(client))
    view.watch(8)
    return query


def start_query(spark: SparkSession, kinesis: LocalKinesis, checkpoint: Path) -> StreamingQuery:
    """From the lines to the counts; where there is a checkpoint, from where it stopped."""
    source = KinesisSource(stream_name=LINES, starting_position=TrimHorizon(), **kinesis.access)
    sink = KinesisSink(stream_name=COUNTS, **kinesis.access)
    writer = source.load(spark).writeStream.foreachBatch(partial(write_counts, sink))
    return writer.option("checkpointLocation", str(checkpoint)).start()


def client_of(kinesis: LocalKinesis) -> Any:
    """An independent client."""
    access = kinesis.access
    return boto3.client(
        "kinesis",
        endpoint_url=access["endpoint"],
        region_name=access["region"],
        aws_access_key_id=access["credentials"].access_key_id,
        aws_secret_access_key=access["credentials"].secret_access_key,
    )


def perform(kinesis: LocalKinesis, start: Callable[[], StreamingQuery], tally: Tally) -> None:
    """The story, between a thread that writes lines and one that reads counts."""
    quiet, done = threading.Event(), threading.Event()
    ends = ((write_lines, LINES, quiet), (read_counts, COUNTS, done))
    writing, reading = (
        threading.Thread(target=run, args=(client_of(kinesis), stream, tally, stop), daemon=True)
        for run, stream, stop in ends
    )
    with closing(View(tally)) as view:
        writing.start()
        reading.start()
        query = story(view, client_of(kinesis), start)
        quiet.set()
        writing.join()
        view.happened("no more lines; waiting for the last to arrive")
        deadline = time.monotonic() + PATIENCE_SECONDS
        while not tally.is_complete() and time.monotonic() < deadline:
            view.watch(0.2)
        query.stop()
        done.set()
        reading.join()


def main() -> int:
    """Run the story; 0 if all arrived, once and in order."""
    tally = Tally()
    streams = {LINES: 2, COUNTS: 1}
    with LocalKinesis(streams=streams) as kinesis, tempfile.TemporaryDirectory() as folder:
        spark = start_session()
        perform(kinesis, lambda: start_query(spark, kinesis, Path(folder) / "checkpoint"), tally)
        spark.stop()
    print(tally.verdict())
    return 0 if tally.is_flawless() else 1


if __name__ == "__main__":
    sys.exit(main())
