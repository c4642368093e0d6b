"""Count the records per minute, by their arrival in Kinesis.

    spark-submit --jars "$(python -c 'import spark_kinesis; print(spark_kinesis.jar_path())')" \
        examples/watermark.py --region eu-west-1 --read orders \
        --output s3a://... --checkpoint s3a://...

The query writes a minute when it reads a record that arrived more than two minutes after the end of
that minute. The source keeps the shards together, within half of that time. Region and credentials
come from the default chain of the AWS SDK. `--endpoint` is for a local Kinesis. With `--once`, the
job processes the records that have arrived, and ends.
"""

from __future__ import annotations

import argparse

from pyspark.sql import DataFrame, SparkSession
from pyspark.sql import functions as F  # noqa: N812, as usual with Spark

from spark_kinesis import KinesisSource, columns, with_kinesis


def per_minute(records: DataFrame) -> DataFrame:
    """From records to one row per stream and minute."""
    return (
        records.withWatermark(columns.APPROXIMATE_ARRIVAL_TIMESTAMP, "2 minutes")
        .groupBy(columns.STREAM, F.window(columns.APPROXIMATE_ARRIVAL_TIMESTAMP, "1 minute"))
        .agg(F.count("*").alias("records"))
        .select("stream", F.col("window.start").alias("minute"), "records")
    )


def main() -> None:
    """Run until the query is stopped or, with `--once`, until all records are processed."""
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--read", default="orders", help="stream to read")
    parser.add_argument("--output", required=True, help="folder for the finished minutes, as JSON")
    parser.add_argument("--checkpoint", required=True, help="folder for the progress of the query")
    parser.add_argument("--region")
    parser.add_argument("--endpoint")
    parser.add_argument("--once", action="store_true")
    options = parser.parse_args()

    spark = with_kinesis(SparkSession.builder.appName("records per minute")).getOrCreate()
    source = KinesisSource(
        stream_name=options.read,
        region=options.region,
        endpoint=options.endpoint,
        starting_position="trim_horizon",
    )
    writer = per_minute(source.read_stream(spark)).writeStream.format("json")
    writer = writer.option("path", options.output).option("checkpointLocation", options.checkpoint)
    if options.once:
        writer = writer.trigger(availableNow=True)
    writer.start().awaitTermination()


if __name__ == "__main__":
    main()
