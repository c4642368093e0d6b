"""A session that wants other jars than ours as well. Run by a test.

Arguments: `classic` or `connect`, then settings of the builder, NAME=VALUE. Prints as JSON, in the
last line, which jars the session hands to its executors and whether its driver knows our source.
"""

from __future__ import annotations

import json
import sys
from pathlib import PurePath

from pyspark import SparkContext
from pyspark.sql import SparkSession

from spark_kinesis import KinesisJarMissingError, KinesisSource, with_kinesis


def main(kind: str, *settings: str) -> None:
    """Start, look, print."""
    builder = SparkSession.Builder()
    builder = builder.remote("local[1]") if kind == "connect" else builder.master("local[1]")
    for setting in settings:
        name, _, value = setting.partition("=")
        builder = builder.config(name, value)
    spark = with_kinesis(builder).getOrCreate()
    try:
        KinesisSource(stream_name="s", region="us-east-1").read_stream(spark)
        is_known = True
    except KinesisJarMissingError:
        is_known = False
    context = SparkContext._active_spark_context
    assert context is not None
    jars = context.getConf().get("spark.jars") or ""
    names = sorted(PurePath(jar).name for jar in jars.split(","))
    print(json.dumps({"session": type(spark).__module__, "jars": names, "known": is_known}))
    spark.stop()


if __name__ == "__main__":
    main(*sys.argv[1:])
