"""A session without credentials. Run by a test, in an environment that has none.

Arguments: endpoint, stream, checkpoint folder. Prints what reading and writing say.
"""

from __future__ import annotations

import sys
from pathlib import Path

from pyspark.sql import SparkSession

from spark_kinesis import KinesisSink, KinesisSource, with_kinesis
from tests.e2e.support.harness import Collector, running
from tests.e2e.support.streams import REGION


def main(endpoint: str, stream: str, checkpoint: str) -> None:
    """Print the two errors."""
    spark = with_kinesis(SparkSession.Builder().master("local[1]")).getOrCreate()
    source = KinesisSource(stream_name=stream, region=REGION, endpoint=endpoint)
    sink = KinesisSink(stream_name=stream, region=REGION, endpoint=endpoint)
    try:
        with running(spark, source, Path(checkpoint), Collector()) as query:
            query.awaitTermination(120)
    except Exception as error:  # noqa: BLE001 the test checks its text
        print(f"source: {error}")
    try:
        sink.write(spark.createDataFrame([("k", "x")], "partitionKey string, data string"))
    except Exception as error:  # noqa: BLE001 the same
        print(f"sink: {error}")
    spark.stop()


if __name__ == "__main__":
    main(*sys.argv[1:])
