"""A table of a stream in the catalog of Delta Lake or of Iceberg. Run by a test.

Arguments: endpoint, stream, `delta` or `iceberg`, a folder. Prints what the queries returned as
JSON in the last line.
"""

from __future__ import annotations

import json
import os
import sys

from pyspark.sql import SparkSession

from spark_kinesis import with_kinesis
from tests.e2e.support.streams import LOCAL, REGION

CATALOG = "spark.sql.catalog.spark_catalog"
SETTINGS = {
    "delta": {
        "spark.jars.packages": "io.delta:delta-spark_2.13:4.0.0",
        "spark.sql.extensions": "io.delta.sql.DeltaSparkSessionExtension",
        CATALOG: "org.apache.spark.sql.delta.catalog.DeltaCatalog",
    },
    "iceberg": {
        "spark.jars.packages": "org.apache.iceberg:iceberg-spark-runtime-4.0_2.13:1.10.0",
        "spark.sql.extensions": (
            "org.apache.iceberg.spark.extensions.IcebergSparkSessionExtensions"
        ),
        CATALOG: "org.apache.iceberg.spark.SparkSessionCatalog",
        f"{CATALOG}.type": "hadoop",
    },
}


def main(endpoint: str, stream: str, kind: str, folder: str) -> None:
    """Write and read the table, beside a table of the catalog's own format."""
    os.environ["AWS_ACCESS_KEY_ID"] = LOCAL.access_key_id
    os.environ["AWS_SECRET_ACCESS_KEY"] = LOCAL.secret_access_key
    builder = SparkSession.Builder().master("local[2]")
    paths = {"spark.sql.warehouse.dir": folder, f"{CATALOG}.warehouse": folder}
    for name, value in {**SETTINGS[kind], **paths}.items():
        builder = builder.config(name, value)
    spark = with_kinesis(builder).getOrCreate()
    options = f"streamName '{stream}', region '{REGION}', endpoint '{endpoint}'"
    options += ", startingPosition 'trim_horizon', deliveryTimeout '1m'"
    spark.sql(f"CREATE TABLE orders USING kinesis OPTIONS ({options})")
    rows = [("a", b"one"), ("b", b"two"), ("c", b"three")]
    spark.createDataFrame(rows, "partitionKey string, data binary").createTempView("new")
    spark.sql("INSERT INTO orders (partitionKey, data) SELECT * FROM new")
    texts = spark.sql("SELECT string(data) AS text FROM orders")
    texts.write.format(kind).saveAsTable("kept")

    streaming = spark.readStream.table("orders")
    writer = streaming.writeStream.format("memory").queryName("seen")
    writer = writer.option("checkpointLocation", f"{folder}/checkpoint").trigger(availableNow=True)
    writer.start().awaitTermination()
    said = {
        "kept": [row[0] for row in spark.sql("SELECT text FROM kept ORDER BY text").collect()],
        "keys": [
            row[0]
            for row in spark.sql("SELECT partitionKey FROM orders WHERE shardId LIKE 'shard%'")
            .sort("partitionKey")
            .collect()
        ],
        "seen": spark.table("seen").count(),
    }
    print(json.dumps(said))
    spark.stop()


if __name__ == "__main__":
    main(*sys.argv[1:])
