"""Spark Connect with a local server: writes a stream and reads it. Run by a test.

Arguments: endpoint, stream, checkpoint folder. Prints the rows, and the numbers of dead letters
with and without a `write_id`, as JSON in the last line.
"""

from __future__ import annotations

import json
import sys
from contextlib import suppress
from dataclasses import replace
from datetime import timedelta
from pathlib import Path
from typing import TYPE_CHECKING

from pyspark.errors import StreamingQueryException
from pyspark.sql import SparkSession

from spark_kinesis import KinesisSink, KinesisSource, TrimHorizon, stop_gracefully, with_kinesis
from tests.e2e.support.streams import LOCAL, REGION, wait_for

if TYPE_CHECKING:
    from pyspark.sql import DataFrame


def main(endpoint: str, stream: str, checkpoint: str) -> None:
    """Write, read, and print the rows."""
    spark = with_kinesis(SparkSession.Builder().remote("local[2]")).getOrCreate()
    sink = KinesisSink(stream_name=stream, region=REGION, endpoint=endpoint, credentials=LOCAL)
    rows = [(f"key-{n % 5}", str(n)) for n in range(100)]
    sink.write(spark.createDataFrame(rows, "partitionKey string, data string"))
    source = KinesisSource(
        stream_name=stream,
        region=REGION,
        endpoint=endpoint,
        credentials=LOCAL,
        starting_position=TrimHorizon(),
    )
    records = source.read_stream(spark).withWatermark("approximateArrivalTimestamp", "1 minute")
    frame = records.selectExpr("partitionKey", "string(data) AS data")
    writer = frame.writeStream.format("memory").queryName("seen")
    query = writer.option("checkpointLocation", checkpoint).start()

    def arrived() -> bool:
        if failure := query.exception():
            raise failure
        return spark.table("seen").count() >= len(rows)

    wait_for("every row", arrived)
    progress = query.lastProgress
    metrics = progress["sources"][0]["metrics"] if progress else {}
    between = stop_gracefully(query, timedelta(minutes=1)) and not query.isActive
    between = between and stop_gracefully(query, timedelta(minutes=1))
    seen = [(row["partitionKey"], row["data"]) for row in spark.table("seen").collect()]
    said = {
        "session": type(spark).__module__,
        "rows": sorted(seen),
        "between": between,
        "together": "heldBackShards" in metrics,
        "letters": letters(sink, frame, Path(f"{checkpoint}-letters")),
    }
    print(json.dumps(said))
    spark.stop()


def letters(sink: KinesisSink, frame: DataFrame, folder: Path) -> dict[str, int]:
    """Keep one bad row, in a batch of `foreachBatch` that runs twice. Counts the dead letters."""

    def keep(batch: DataFrame, number: int) -> None:
        bad = batch.limit(1).selectExpr("'' AS partitionKey", "data")
        for write_id in (None, f"copy-{number}"):
            path = folder / ("named" if write_id else "unnamed")
            replace(sink, dead_letter_path=path, write_id=write_id).write(bad)
        if not (folder / "failed").exists():
            (folder / "failed").touch()
            raise RuntimeError("failed as the test wants it")

    writer = frame.writeStream.foreachBatch(keep).trigger(availableNow=True)
    writer = writer.option("checkpointLocation", str(folder / "_checkpoint"))
    for _ in range(2):
        with suppress(StreamingQueryException):
            writer.start().awaitTermination()
    spark = frame.sparkSession
    return {name: spark.read.json(str(folder / name)).count() for name in ("named", "unnamed")}


if __name__ == "__main__":
    main(*sys.argv[1:])
