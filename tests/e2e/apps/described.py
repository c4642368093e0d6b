"""Batch reads that differ in their options. Run by a test, in an environment with credentials.

Arguments: a folder with jars of the user, or `-`, then the options of each read as JSON. Prints as
JSON, in the last line, what each read says.
"""

from __future__ import annotations

import json
import sys

from pyspark.sql import SparkSession

from spark_kinesis import with_kinesis


def main(jars: str, *reads: str) -> None:
    """Print the error of each read."""
    builder = SparkSession.Builder().master("local[1]").config("spark.ui.enabled", "false")
    if jars != "-":
        builder = builder.config("spark.jars", jars)
    spark = with_kinesis(builder).getOrCreate()
    print(json.dumps([error(spark, json.loads(read)) for read in reads]))
    spark.stop()


def error(spark: SparkSession, options: dict[str, str]) -> str:
    """What a read says."""
    try:
        spark.read.format("kinesis").options(**options).load().count()
    except Exception as failure:  # noqa: BLE001 the test checks its text
        return str(failure)
    return ""


if __name__ == "__main__":
    main(*sys.argv[1:])
