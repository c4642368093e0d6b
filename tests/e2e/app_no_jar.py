"""A session without the connector. Run by a test; argument: `classic` or `connect`."""

from __future__ import annotations

import sys

from pyspark.sql import SparkSession

from spark_kinesis import KinesisJarMissing, KinesisSink, KinesisSource


def main(kind: str) -> None:
    """Print what each attempt says."""
    builder = SparkSession.Builder()
    builder = builder.remote("local[1]") if kind == "connect" else builder.master("local[1]")
    spark = builder.getOrCreate()
    try:
        KinesisSource(stream_name="s").load(spark)
    except KinesisJarMissing as error:
        print(f"source: {error}")
    try:
        KinesisSink(stream_name="s").save(spark.range(1).selectExpr("'x' AS data"))
    except KinesisJarMissing as error:
        print(f"sink: {error}")
    spark.stop()


if __name__ == "__main__":
    main(*sys.argv[1:])
