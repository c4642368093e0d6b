"""The Scala of the page about time, in Spark's shell."""

from __future__ import annotations

import json
import os
import shlex
import sys
from pathlib import Path
from typing import TYPE_CHECKING

import pytest

from spark_kinesis import jar_path
from tests.docs.pages import FENCE, Page
from tests.e2e.support.programs import run
from tests.e2e.support.streams import REGION

if TYPE_CHECKING:
    from tests.e2e.support.streams import Stream

pytestmark = [pytest.mark.slow, pytest.mark.spark4]

PAGE = Page(name="docs/how-to/time.md")
# Several micro-batches: a sum is right only if the state of the earlier ones is in it.
READ = """
val orders = spark.readStream.format("kinesis").option("streamName", "{name}").option(
  "region", "{region}").option("startingPosition", "trim_horizon").option(
  "maxRecordsPerTrigger", "2").load()
"""
SHOW = """
totals.toDF.writeStream.foreachBatch((rows: org.apache.spark.sql.DataFrame, _: Long) =>
  rows.toJSON.collect().foreach(row => println("ROW " + row))).outputMode("update").option(
  "checkpointLocation", "{checkpoint}").trigger(Trigger.AvailableNow()).start().awaitTermination()
System.exit(0)
"""


@pytest.mark.parametrize("kinesis", ["simulator"], indirect=True)
def test_the_state_of_a_key_in_scala(stream: Stream, tmp_path: Path) -> None:
    for number in range(6):
        at = "2026-11-23T08:00:00Z"
        row = {"order_id": f"o{number}", "customer": f"c{number % 2}", "amount": number, "at": at}
        stream.put_raw(json.dumps(row).encode(), f"o{number}")
    (example,) = (it["code"] for it in FENCE.finditer(PAGE.text) if it["language"] == "scala")
    script = tmp_path / "example.scala"
    show = SHOW.replace("{checkpoint}", str(tmp_path / "checkpoint"))
    script.write_text(READ.format(name=stream.name, region=REGION) + example + show)
    settings = ["--conf", "spark.sql.shuffle.partitions=2", "--jars", jar_path()]
    shell = [str(Path(sys.executable).parent / "spark-shell"), "--master", "local[2]", *settings]
    said = run(
        ["sh", "-c", f"{shlex.join(shell)} < {shlex.quote(str(script))}"],
        cwd=tmp_path,
        env={**os.environ, **stream.environment(), "PYSPARK_PYTHON": sys.executable},
        seconds=900,
    )
    lines = (it.split("ROW ", 1)[1] for it in said.stdout.splitlines() if "ROW {" in it)
    rows = [json.loads(it) for it in lines]
    assert len(rows) > 2, said.stdout[-3000:] + said.stderr[-3000:]
    assert {it["customer"]: it["total"] for it in rows} == {"c0": 6.0, "c1": 9.0}
