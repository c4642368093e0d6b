"""A session with other jars besides the connector's. Run by a test.

Arguments: `classic` or `connect`, then settings of the builder, NAME=VALUE. Prints as JSON, in the
last line, which jars the session gives to its executors, or why it could not be started.
"""

from __future__ import annotations

import json
import sys
from pathlib import PurePath

from pyspark import SparkContext
from pyspark.sql import SparkSession

from spark_kinesis import KinesisJarMissingError, KinesisSource, with_kinesis


def main(kind: str, *settings: str) -> None:
    """Start a session, and print its jars."""
    builder = SparkSession.Builder()
    builder = builder.remote("local[1]") if kind == "connect" else builder.master("local[1]")
    for setting in settings:
        name, _, value = setting.partition("=")
        builder = builder.config(name, value)
    try:
        spark = with_kinesis(builder).getOrCreate()
    except KinesisJarMissingError as error:
        print(json.dumps({"refused": str(error)}))
        return
    KinesisSource(stream_name="s", region="us-east-1").read_stream(spark)
    context = SparkContext._active_spark_context
    assert context is not None
    jars = context.getConf().get("spark.jars") or ""
    names = sorted(PurePath(jar).name for jar in jars.split(","))
    print(json.dumps({"session": type(spark).__module__, "jars": names}))
    spark.stop()


if __name__ == "__main__":
    main(*sys.argv[1:])
