"""How many records arrive in each minute, by the time at which Kinesis took them.

    spark-submit --jars "$(python -c 'import spark_kinesis; print(spark_kinesis.jar_path())')" \
        examples/watermark.py --region eu-west-1 --read orders --output s3a://... --checkpoint s3a://...

A minute is written once it is over: when a record has come that arrived two minutes after its end.
The delay is there for shards that are read behind others: whatever is later than that is left out.
Region and credentials come from the AWS SDK's usual chain; `--endpoint` is for a local Kinesis.
`--once` handles what has arrived by now and ends.
"""

from __future__ import annotations

import argparse

from pyspark.sql import DataFrame, SparkSession
from pyspark.sql import functions as F  # noqa: N812, Spark's own habit

from spark_kinesis import KinesisSource, TrimHorizon, with_kinesis


def per_minute(records: DataFrame) -> DataFrame:
    """From rows of Kinesis to one row a minute of a stream."""
    return (
        records.withWatermark("approximateArrivalTimestamp", "2 minutes")
        .groupBy("stream", F.window("approximateArrivalTimestamp", "1 minute"))
        .agg(F.count("*").alias("records"))
        .select("stream", F.col("window.start").alias("minute"), "records")
    )


def main() -> None:
    """Run until it is stopped, or with `--once` until the present is handled."""
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--read", default="orders", help="stream to read")
    parser.add_argument("--output", required=True, help="folder for the finished minutes, as JSON")
    parser.add_argument("--checkpoint", required=True, help="where the query keeps its place")
    parser.add_argument("--region")
    parser.add_argument("--endpoint")
    parser.add_argument("--once", action="store_true")
    options = parser.parse_args()

    spark = with_kinesis(SparkSession.builder.appName("records per minute")).getOrCreate()
    source = KinesisSource(
        stream_name=options.read,
        region=options.region,
        endpoint=options.endpoint,
        starting_position=TrimHorizon(),
    )
    writer = per_minute(source.read_stream(spark)).writeStream.format("json")
    writer = writer.option("path", options.output).option("checkpointLocation", options.checkpoint)
    if options.once:
        writer = writer.trigger(availableNow=True)
    writer.start().awaitTermination()


if __name__ == "__main__":
    main()
