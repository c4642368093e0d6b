"""Decodes Avro with Spark's module for it. Run by a test.

Arguments: the version of the module, and a file with the page's example. Prints the outcomes of
each case, as Python writes them, in the last line.
"""

from __future__ import annotations

import base64
import json
import sys
from pathlib import Path
from typing import TYPE_CHECKING, Any

from pyspark.sql import Row, SparkSession, functions
from pyspark.sql.avro.functions import from_avro

from spark_kinesis import payloads, with_kinesis
from tests.e2e.support.payloads import GOLDEN, plain

if TYPE_CHECKING:
    from pyspark.sql import Column, DataFrame

FIELDS = [{"name": "id", "type": "long"}, {"name": "customer", "type": "string"}]
TOTAL = {"name": "total", "type": "double", "default": 0.0}
PREFIX = "b7b4a7f0-9c96-4e4a-a687-fb5de9ef000"


def main(module: str, example: str) -> None:
    """Print the outcomes."""
    builder = SparkSession.Builder().master("local[1]").config("spark.ui.enabled", "false")
    package = f"org.apache.spark:spark-avro_2.13:{module}"
    spark = with_kinesis(builder.config("spark.jars.packages", package)).getOrCreate()
    payloads.register(spark)

    def frame(records: list[bytes]) -> DataFrame:
        rows = [(number, bytearray(it)) for number, it in enumerate(records)]
        return spark.createDataFrame(rows, "sequenceNumber INT, data BINARY").coalesce(1)

    def decoded(records: list[bytes], how: Column) -> list[tuple[Any, str | None]]:
        return listed(frame(records).select("sequenceNumber", functions.inline(how)))

    glue = json.loads((GOLDEN / "glue.json").read_text("utf-8"))["records"]
    headed = [base64.b64decode(it["data"]) for it in glue if it["format"] == "AVRO"]
    avro = json.loads((GOLDEN / "avro.json").read_text("utf-8"))
    schema = json.dumps(avro["schema"])
    orders = [base64.b64decode(it["data"]) for it in avro["records"]]
    versions = {f"{PREFIX}1": of(FIELDS), f"{PREFIX}2": of([*FIELDS, TOTAL])}
    names: dict[str, Any] = {
        "payloads": payloads,
        "versions": versions,
        "inline": functions.inline,
        "headed": frame(headed),
    }
    exec(Path(example).read_text("utf-8"), names)  # noqa: S102 it is the page's own code
    frame([b"\x22", b"\x22\x00"]).createOrReplaceTempView("avro")
    sql = """
        SELECT IF(reason IS NULL, from_avro(data, '"long"', map()), NULL) AS value, reason
        FROM (SELECT data, kinesis_payloads.check_avro(data, '"long"') AS reason FROM avro)
    """
    trap = functions.array(
        functions.struct(
            from_avro("data", of([*FIELDS, TOTAL])).alias("value"),
            functions.lit(None).cast("string").alias("reason"),
        )
    )
    cut = [it[:end] for it in orders for end in range(0, len(it), 7)]
    print(
        {
            "page": listed(names["rows"]),
            "fastavro": decoded(orders, payloads.avro("data", schema)),
            "sql": listed(spark.sql(sql)),
            "headers": decoded(headed, payloads.avro("data", of([*FIELDS, TOTAL]))),
            "cut": decoded(cut, payloads.avro("data", schema)),
            "from_avro": [value for value, _ in decoded(headed[:1], trap)],
        }
    )


def of(fields: list[dict[str, Any]]) -> str:
    """A schema of orders."""
    return json.dumps({"type": "record", "name": "Order", "fields": fields})


def listed(rows: DataFrame) -> list[tuple[Any, str | None]]:
    """The values and reasons of rows."""
    found: list[Row] = rows.collect()
    return [(plain(it["value"]), it["reason"]) for it in found]


if __name__ == "__main__":
    main(*sys.argv[1:])
