"""Reads a stream with `read_kinesis` in SQL. Run by a test.

Arguments: endpoint, stream, `classic` or `connect`, checkpoint folder. Prints the number of rows of
each query, or the condition of its error, as JSON in the last line.
"""

from __future__ import annotations

import json
import os
import sys
from pathlib import Path
from typing import Any

from pyspark.errors import PySparkException
from pyspark.sql import SparkSession

from spark_kinesis import with_kinesis
from tests.e2e.support.streams import LOCAL, REGION

WATERMARK = "WATERMARK approximateArrivalTimestamp DELAY OF INTERVAL 1 MINUTE"


def main(endpoint: str, stream: str, kind: str, folder: str) -> None:
    """Run each query, and print the outcome."""
    os.environ["AWS_ACCESS_KEY_ID"] = LOCAL.access_key_id
    os.environ["AWS_SECRET_ACCESS_KEY"] = LOCAL.secret_access_key
    builder = SparkSession.Builder()
    builder = builder.remote("local[2]") if kind == "connect" else builder.master("local[2]")
    builder = builder.config("spark.sql.warehouse.dir", f"{folder}/warehouse")
    spark = with_kinesis(builder).getOrCreate()
    given = {"streamName": stream, "region": REGION, "endpoint": endpoint}
    given["startingPosition"] = "trim_horizon"
    call = f"read_kinesis({', '.join(f'{name} => {value!r}' for name, value in given.items())})"
    options = ", ".join(f"{name} {value!r}" for name, value in given.items())
    spark.sql(f"CREATE TABLE orders USING kinesis OPTIONS ({options})")
    sources = {
        "batch": call,
        "stream": f"STREAM({call})",
        "stream without parentheses": f"STREAM {call}",
        "stream with watermark": f"STREAM({call}) {WATERMARK}",
        "table with watermark": f"STREAM orders {WATERMARK}",
    }
    said = {name: outcome(spark, name, sql, Path(folder)) for name, sql in sources.items()}
    print(json.dumps(said))
    spark.stop()


def outcome(spark: SparkSession, name: str, source: str, folder: Path) -> Any:
    """The number of rows, or the condition of the error."""
    try:
        frame = spark.sql(f"FROM {source}")
        if not frame.isStreaming:
            return frame.count()
        view = name.replace(" ", "_")
        writer = frame.writeStream.format("memory").queryName(view)
        writer = writer.option("checkpointLocation", str(folder / view))
        writer.trigger(availableNow=True).start().awaitTermination()
        return spark.table(view).count()
    except PySparkException as error:
        return error.getCondition()


if __name__ == "__main__":
    main(*sys.argv[1:])
