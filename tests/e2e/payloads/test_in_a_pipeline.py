"""A declarative pipeline decodes payloads with the page's setting."""

from __future__ import annotations

import os
import sys
from importlib.util import find_spec
from pathlib import Path

import pytest

from spark_kinesis import jar_path
from tests.docs.pages import FENCE, Page
from tests.e2e.support.programs import run

pytestmark = [
    pytest.mark.slow,
    pytest.mark.skipif(not find_spec("pyspark.pipelines"), reason="this Spark has no pipelines"),
]

PAGE = Page(name="docs/how-to/payloads.md")
SPEC = """
name: orders
storage: {storage}
libraries:
  - glob:
      include: transformations/**
"""
FLOWS = """
from pyspark import pipelines as dp
from pyspark.sql import SparkSession
from pyspark.sql.functions import inline
from pyspark.sql.types import LongType, StructType

from spark_kinesis import payloads

spark = SparkSession.active()
payloads.register(spark)


@dp.materialized_view
def orders():
    data = spark.range(1).selectExpr("binary(concat(id, 'no')) AS data")
    found = data.unionAll(spark.range(1).selectExpr("binary('{\\"id\\":17}') AS data"))
    return found.select(inline(payloads.json("data", StructType().add("id", LongType()))))
"""


def test_the_setting_of_the_page_makes_the_functions_available(tmp_path: Path) -> None:
    (setting,) = (it["code"] for it in FENCE.finditer(PAGE.text) if it["language"] == "yaml")
    (tmp_path / "transformations").mkdir()
    (tmp_path / "transformations" / "orders.py").write_text(FLOWS)
    spec = SPEC.format(storage=(tmp_path / "storage").as_uri()) + setting
    (tmp_path / "spark-pipeline.yml").write_text(spec)
    environment = {**os.environ, "PYSPARK_PYTHON": sys.executable, "SPARK_TESTING": "true"}
    program = str(Path(sys.executable).parent / "spark-pipelines")
    run([program, "run", "--jars", jar_path()], cwd=tmp_path, env=environment, seconds=500)
    show = "SELECT value.id, reason FROM parquet.`spark-warehouse/orders` ORDER BY id"
    sql = str(Path(sys.executable).parent / "spark-sql")
    said = run([sql, "-e", show], cwd=tmp_path, env=environment, seconds=500)
    rows = [it.split("\t") for it in said.stdout.splitlines() if "\t" in it]
    assert rows == [["NULL", "NOT_JSON: from character 1"], ["17", "NULL"]]
