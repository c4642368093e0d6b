"""Decodes Avro with Spark's module for it. Run by a test.

Arguments: the version of the module, and a file with cases in JSON. A case has `schema`, `reader`
and `records`, in Base64. Prints the value and the reason of each record of each case, as JSON in
the last line.
"""

from __future__ import annotations

import base64
import json
import sys
from pathlib import Path

from pyspark.sql import SparkSession

from spark_kinesis import payloads, with_kinesis
from tests.e2e.support.payloads import outcomes


def main(module: str, cases: str) -> None:
    """Print the outcomes."""
    builder = SparkSession.Builder().master("local[1]").config("spark.ui.enabled", "false")
    package = f"org.apache.spark:spark-avro_2.13:{module}"
    spark = with_kinesis(builder.config("spark.jars.packages", package)).getOrCreate()
    payloads.register(spark)
    said = []
    for case in json.loads(Path(cases).read_text("utf-8")):
        records = [base64.b64decode(it) for it in case["records"]]
        decoded = payloads.avro("data", json.dumps(case["schema"]), json.dumps(case["reader"]))
        said.append([it for (it,) in outcomes(spark, records, decoded)])
    print(json.dumps(said, default=lambda it: it.hex()))  # bytes


if __name__ == "__main__":
    main(*sys.argv[1:])
