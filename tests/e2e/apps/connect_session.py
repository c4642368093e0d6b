"""Spark Connect with a local server: writes a stream and reads it. Run by a test.

Arguments: endpoint, stream, checkpoint folder. Prints the rows as JSON in the last line.
"""

from __future__ import annotations

import json
import sys

from pyspark.sql import SparkSession

from spark_kinesis import KinesisSink, KinesisSource, TrimHorizon, with_kinesis
from tests.e2e.support.streams import LOCAL, REGION, wait_for


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
    frame = source.read_stream(spark).selectExpr("partitionKey", "string(data) AS data")
    writer = frame.writeStream.format("memory").queryName("seen")
    query = writer.option("checkpointLocation", checkpoint).start()

    def arrived() -> bool:
        if failure := query.exception():
            raise failure
        return spark.table("seen").count() >= len(rows)

    wait_for("every row", arrived)
    query.stop()
    seen = [(row["partitionKey"], row["data"]) for row in spark.table("seen").collect()]
    print(json.dumps({"session": type(spark).__module__, "rows": sorted(seen)}))
    spark.stop()


if __name__ == "__main__":
    main(*sys.argv[1:])
