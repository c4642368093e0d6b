"""The page's Scala, in Spark's shell, with the records of AWS's own serializer."""

from __future__ import annotations

import json
import os
import shlex
import sys
from pathlib import Path

import pytest

from spark_kinesis import jar_path
from tests.docs.pages import FENCE, Page
from tests.e2e.support.payloads import GOLDEN
from tests.e2e.support.programs import run

pytestmark = [pytest.mark.slow, pytest.mark.spark4]

PAGE = Page(name="docs/how-to/payloads.md")
SHOW = """
val golden = spark.read.option("multiLine", true).json("{golden}")
val each = golden.select(explode(col("records")).as("it"))
val records = each.select(
  col("it.format"), col("it.compression"), unbase64(col("it.data")).as("data"))
val others = Seq("", "0300", "03").toDF("hex").select(
  lit("NONE").as("format"), lit("NONE").as("compression"), unhex(col("hex")).as("data"))
val versions = Map("b7b4a7f0-9c96-4e4a-a687-fb5de9ef0003" -> "id LONG, customer STRING")
glue(records.union(others), versions).selectExpr(
  "format", "compression", "value.id", "value.customer", "split(reason, ':')[0] AS reason"
).toJSON.collect().foreach(row => println("ROW " + row))
System.exit(0)
"""


def test_the_page_decodes_json_of_the_glue_schema_registry(tmp_path: Path) -> None:
    (example,) = (it["code"] for it in FENCE.finditer(PAGE.text) if it["language"] == "scala")
    script = tmp_path / "example.scala"
    script.write_text(example + SHOW.replace("{golden}", str(GOLDEN / "glue.json")))
    shell = [str(Path(sys.executable).parent / "spark-shell"), "--master", "local[1]"]
    said = run(
        ["sh", "-c", f"{shlex.join([*shell, '--jars', jar_path()])} < {shlex.quote(str(script))}"],
        cwd=tmp_path,
        env={**os.environ, "PYSPARK_PYTHON": sys.executable},
        seconds=300,
    )
    lines = (it.split("ROW ", 1)[1] for it in said.stdout.splitlines() if "ROW {" in it)
    rows = [json.loads(it) for it in lines]
    order = {"id": 17, "customer": "Zürich"}
    records = json.loads((GOLDEN / "glue.json").read_text("utf-8"))["records"]
    expected = [
        {
            "format": it["format"],
            "compression": it["compression"],
            **(order if it["format"] == "JSON" else {"reason": "UNKNOWN_SCHEMA_VERSION"}),
        }
        for it in records
    ]
    none = {"format": "NONE", "compression": "NONE", "reason": "NO_REGISTRY_HEADER"}
    assert rows == [*expected, none, none, none]
