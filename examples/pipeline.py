"""Read orders from a stream, and write the running total of each customer to another stream.

    spark-submit --jars "$(python -c 'import spark_kinesis; print(spark_kinesis.jar_path())')" \
        examples/pipeline.py --region eu-west-1 --read orders --write totals --checkpoint s3a://...

Region and credentials come from the default chain of the AWS SDK. `--endpoint` is for a local
Kinesis. With `--once`, the job processes the records that have arrived, and ends.
"""

from __future__ import annotations

import argparse

from pyspark.sql import DataFrame, SparkSession
from pyspark.sql import functions as F  # noqa: N812, as usual with Spark

from spark_kinesis import KinesisSink, KinesisSource, with_kinesis


def totals(orders: DataFrame) -> DataFrame:
    """From records with JSON data to one row per customer, with the columns that the sink needs."""
    order = F.from_json(F.col("data").cast("string"), "customer STRING, amount DOUBLE").alias(
        "order"
    )
    summed = (
        orders.select(order)
        .groupBy("order.customer")
        .agg(F.count("*").alias("orders"), F.sum("order.amount").alias("amount"))
    )
    return summed.select(
        F.col("customer").alias("partitionKey"),
        F.to_json(F.struct("customer", "orders", "amount")).alias("data"),
    )


def main() -> None:
    """Run until the query is stopped or, with `--once`, until all records are processed."""
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--read", default="orders", help="stream to read")
    parser.add_argument("--write", default="totals", help="stream to write")
    parser.add_argument("--checkpoint", required=True, help="folder for the progress of the query")
    parser.add_argument("--region")
    parser.add_argument("--endpoint")
    parser.add_argument("--once", action="store_true")
    options = parser.parse_args()

    spark = with_kinesis(SparkSession.builder.appName("order totals")).getOrCreate()
    source = KinesisSource(
        stream_name=options.read,
        region=options.region,
        endpoint=options.endpoint,
        starting_position="trim_horizon",
    )
    sink = KinesisSink(stream_name=options.write, region=options.region, endpoint=options.endpoint)
    writer = sink.write_stream(
        totals(source.read_stream(spark)), checkpoint_location=options.checkpoint
    ).outputMode("update")
    if options.once:
        writer = writer.trigger(availableNow=True)
    writer.start().awaitTermination()


if __name__ == "__main__":
    main()
