"""A session without the connector. Run by a test; argument: `classic` or `connect`."""

from __future__ import annotations

import sys

from pyspark.sql import SparkSession

from spark_kinesis import KinesisJarMissingError, KinesisSink, KinesisSource


def main(kind: str) -> None:
    """Print the error of each attempt."""
    builder = SparkSession.Builder()
    builder = builder.remote("local[1]") if kind == "connect" else builder.master("local[1]")
    spark = builder.getOrCreate()
    try:
        KinesisSource(stream_name="s").read_stream(spark)
    except KinesisJarMissingError as error:
        print(f"source: {error}")
    try:
        KinesisSink(stream_name="s").write(spark.range(1).selectExpr("'x' AS data"))
    except KinesisJarMissingError as error:
        print(f"sink: {error}")
    spark.stop()


if __name__ == "__main__":
    main(*sys.argv[1:])
