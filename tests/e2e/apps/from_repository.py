"""A session with the connector from a Maven repository. Run by a test.

Arguments: `with_kinesis` or `spark`, which starts the session; the coordinates of its packages; the
settings that say where Ivy finds them; and a folder for Ivy. Prints as JSON, in the last line, the
rows that the session wrote and read again, and how many copies of the connector its class path has.
"""

from __future__ import annotations

import json
import sys
from typing import Any

from pyspark import SparkContext
from pyspark.sql import SparkSession

from spark_kinesis import KinesisSink, KinesisSource, with_kinesis
from tests.e2e.support.streams import local_kinesis


def main(start: str, packages: str, settings: str, ivy: str) -> None:
    """Write rows, and read them."""
    builder = SparkSession.Builder().master("local[1]").config("spark.ui.enabled", "false")
    builder.config("spark.jars.packages", packages)
    builder.config("spark.jars.ivySettings", settings).config("spark.jars.ivy", ivy)
    spark = (with_kinesis(builder) if start == "with_kinesis" else builder).getOrCreate()
    with local_kinesis(streams={"orders": 1}) as kinesis:
        orders = spark.sql("SELECT 'a' AS partitionKey, explode(array('first', 'second')) AS data")
        KinesisSink(stream_name="orders", **kinesis.access).write(orders)
        source = KinesisSource(
            stream_name="orders", starting_position="trim_horizon", **kinesis.access
        )
        found = source.read(spark).selectExpr("string(data) AS text").collect()
    jvm: Any = SparkContext._jvm
    loader = jvm.Thread.currentThread().getContextClassLoader()
    classes = loader.getResources("sparkkinesis/spark/KinesisTableProvider.class")
    copies = 0
    while classes.hasMoreElements():
        classes.nextElement()
        copies += 1
    print(json.dumps({"rows": sorted(row.text for row in found), "copies": copies}))
    spark.stop()


if __name__ == "__main__":
    main(*sys.argv[1:])
