"""Queries that OpenLineage listens to. Run by a test.

Arguments: the coordinates of OpenLineage's listener, and a folder. Prints as JSON, in the last
line, the streams that each query reads and writes according to OpenLineage, without repetitions.
"""

from __future__ import annotations

import json
import sys
from pathlib import Path
from typing import TYPE_CHECKING, Any

from pyspark.sql import SparkSession

from spark_kinesis import KinesisSink, KinesisSource, with_kinesis
from tests.e2e.support.streams import local_kinesis

if TYPE_CHECKING:
    from spark_kinesis.local import LocalKinesis

STREAMS = ("orders", "returns", "copies", "archive")


def main(listener: str, folder: str) -> None:
    """Run the queries, and print what the events say."""
    events = Path(folder, "events.json")
    builder = SparkSession.Builder().master("local[1]").config("spark.ui.enabled", "false")
    settings = {
        "spark.jars.packages": listener,
        "spark.extraListeners": "io.openlineage.spark.agent.OpenLineageSparkListener",
        "spark.openlineage.transport.type": "file",
        "spark.openlineage.transport.location": str(events),
    }
    for name, value in settings.items():
        builder.config(name, value)
    spark = with_kinesis(builder).getOrCreate()
    with local_kinesis(streams=dict.fromkeys(STREAMS, 1)) as kinesis:
        run(spark, kinesis, Path(folder))
    spark.stop()  # it waits for the listener
    seen: list[Any] = []
    for line in events.read_text(encoding="utf-8").splitlines():
        event = json.loads(line)
        streams = [arns(event.get(kind, [])) for kind in ("inputs", "outputs")]
        if event["eventType"] == "COMPLETE" and any(streams) and streams not in seen:
            seen.append(streams)
    print(json.dumps(seen))


def run(spark: SparkSession, kinesis: LocalKinesis, folder: Path) -> None:
    """A batch write, batch reads into files and into a stream, and a streaming query."""
    orders = KinesisSource(stream_name="orders", starting_position="earliest", **kinesis.access)
    both = KinesisSource(
        stream_name=["orders", "returns"], starting_position="earliest", **kinesis.access
    )
    archive = KinesisSink(stream_name="archive", **kinesis.access)
    ordered = KinesisSink(stream_name="copies", ordering="per_key", **kinesis.access)
    rows = spark.sql("SELECT 'a' AS partitionKey, explode(array('first', 'second')) AS data")
    KinesisSink(stream_name="orders", **kinesis.access).write(rows)
    orders.read(spark).write.parquet(str(folder / "rows"))
    ordered.write(both.read(spark).select("partitionKey", "data"))
    query = archive.write_stream(
        both.read_stream(spark).select("partitionKey", "data"),
        checkpoint_location=folder / "checkpoint",
    )
    query.trigger(availableNow=True).start().awaitTermination()


def arns(datasets: list[dict[str, str]]) -> list[str]:
    """The ARNs of those datasets that are streams."""
    every = [f"{it['namespace']}:{it['name']}" for it in datasets]
    return sorted(it for it in every if it.startswith("arn:"))


if __name__ == "__main__":
    main(*sys.argv[1:])
