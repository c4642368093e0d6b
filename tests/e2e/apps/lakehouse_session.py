"""Uses a Kinesis table beside a table of another format. Run by a test.

Arguments: the format (`delta` or `iceberg`), the coordinates of its module, the name of its
catalog, endpoint, stream, folder. Prints the outcome of each step as JSON in the last line.
"""

from __future__ import annotations

import json
import os
import sys
from typing import TYPE_CHECKING

from pyspark.errors import PySparkException
from pyspark.sql import SparkSession

from spark_kinesis import with_kinesis
from tests.e2e.support.streams import LOCAL, REGION

if TYPE_CHECKING:
    from collections.abc import Callable

EXTENSIONS = {
    "delta": "io.delta.sql.DeltaSparkSessionExtension",
    "iceberg": "org.apache.iceberg.spark.extensions.IcebergSparkSessionExtensions",
}
CATALOGS = {
    ("delta", "spark_catalog"): "org.apache.spark.sql.delta.catalog.DeltaCatalog",
    ("iceberg", "spark_catalog"): "org.apache.iceberg.spark.SparkSessionCatalog",
    ("iceberg", "lake"): "org.apache.iceberg.spark.SparkCatalog",
}


def main(*arguments: str) -> None:
    """Run each step, and print the outcomes."""
    form, module, catalog, endpoint, stream, folder = arguments
    os.environ["AWS_ACCESS_KEY_ID"] = LOCAL.access_key_id
    os.environ["AWS_SECRET_ACCESS_KEY"] = LOCAL.secret_access_key
    setting = f"spark.sql.catalog.{catalog}"
    builder = (
        SparkSession.Builder()
        .master("local[2]")
        .config("spark.ui.enabled", "false")
        .config("spark.jars.packages", module)
        .config("spark.sql.extensions", EXTENSIONS[form])
        .config("spark.sql.warehouse.dir", f"{folder}/warehouse")
        .config(setting, CATALOGS[form, catalog])
    )
    if form == "iceberg":
        builder = builder.config(f"{setting}.type", "hadoop")
        builder = builder.config(f"{setting}.warehouse", f"{folder}/iceberg")
    spark = with_kinesis(builder).getOrCreate()
    given = {"streamName": stream, "region": REGION, "endpoint": endpoint}
    given["startingPosition"] = "trim_horizon"
    options = ", ".join(f"{name} {value!r}" for name, value in given.items())
    call = f"read_kinesis({', '.join(f'{name} => {value!r}' for name, value in given.items())})"
    create = f"CREATE TABLE orders USING kinesis OPTIONS ({options})"
    copy = f"{catalog}.default.copy"
    steps: dict[str, Callable[[], object]] = {
        "create": lambda: spark.sql(create).count(),
        "insert": lambda: spark.sql(
            "INSERT INTO orders SELECT 'a' AS partitionKey, 'x' AS data"
        ).count(),
        "select": lambda: spark.table("orders").count(),
        "function": lambda: spark.sql(f"FROM {call}").count(),
        "copy": lambda: spark.sql(f"CREATE TABLE {copy} USING {form} AS FROM {call}").count(),
        "copied": lambda: spark.table(copy).count(),
    }
    print(json.dumps({name: outcome(step) for name, step in steps.items()}))
    spark.stop()


def outcome(step: Callable[[], object]) -> object:
    """What the step returns, or the condition of its error."""
    try:
        return step()
    except PySparkException as error:
        return error.getCondition() or str(error).split("]")[0].removeprefix("[")


if __name__ == "__main__":
    main(*sys.argv[1:])
