"""Declarative pipelines: the page's flows run, are killed, continue, and are refreshed."""

from __future__ import annotations

import json
import os
import subprocess
import sys
from importlib.util import find_spec
from pathlib import Path
from typing import TYPE_CHECKING

import pytest

from spark_kinesis import jar_path
from spark_kinesis.columns import SEQUENCE_NUMBER, SHARD_ID, STREAM, SUB_SEQUENCE_NUMBER
from tests.docs.pages import FENCE, Page
from tests.e2e.support.processes import kill_session
from tests.e2e.support.programs import run
from tests.e2e.support.streams import KEYS, REGION, Stream, source_of, wait_for

if TYPE_CHECKING:
    from pyspark.sql import DataFrame, SparkSession

pytestmark = [
    pytest.mark.skipif(not find_spec("pyspark.pipelines"), reason="this Spark has no pipelines"),
    pytest.mark.parametrize("kinesis", ["simulator"], indirect=True),
]

PAGE = Page(name="docs/how-to/pipelines.md")
IDENTITY = (STREAM, SHARD_ID, SEQUENCE_NUMBER, SUB_SEQUENCE_NUMBER)
BATCH = 20
# The trap of the page: a table that begins with the newest record.
NEW_ORDERS = """

@dp.table
def new_orders():
    return KinesisSource(stream_name="orders", region="eu-west-1").read_stream(spark)
"""


def fences(language: str) -> list[str]:
    """The code of the page in a language, also what only this test can run."""
    return [it["code"] for it in FENCE.finditer(PAGE.text) if it["language"] == language]


class Project:
    """The page's pipeline in a folder, with the streams of a test."""

    def __init__(self, folder: Path, orders: Stream, copies: Stream) -> None:
        """Write its files, and create the table of the catalog."""
        self.folder = folder
        self.environment = {
            **os.environ,
            **orders.environment(),
            "PYSPARK_PYTHON": sys.executable,
            "SPARK_TESTING": "true",  # any free port for Spark Connect
        }

        def here(code: str) -> str:
            for shown, used in {
                '"orders"': f'"{orders.name}"',
                "streamName 'orders'": f"streamName '{orders.name}'",
                '"copies",\n    region': f'"{copies.name}",\n    region',
                "eu-west-1": REGION,
                "10_000": str(BATCH),
                "'trim_horizon')": f"'trim_horizon', maxRecordsPerTrigger '{BATCH}')",
                "/var/lib/pipelines/orders": str(folder / "storage"),
                "'1 minute'": "'1 second'",
                "10 MINUTES": "10 SECONDS",
            }.items():
                code = code.replace(shown, used)
            return code

        (spec,), (flows,), (texts, table, per_minute) = map(fences, ("yaml", "python", "sql"))
        (folder / "transformations").mkdir()
        (folder / "spark-pipeline.yml").write_text(here(spec))
        (folder / "transformations" / "orders.py").write_text(here(flows + NEW_ORDERS))
        (folder / "transformations" / "orders.sql").write_text(texts)
        (folder / "transformations" / "per_minute.sql").write_text(here(per_minute))
        self._run(self.command("spark-sql", "-e", here(table)))

    def command(self, program: str, *arguments: str) -> list[str]:
        """A program of Spark with the options of the page."""
        path = Path(sys.executable).parent / program
        catalog = ["--conf", "spark.sql.catalogImplementation=hive"]
        return [str(path), *arguments, "--jars", jar_path(), *catalog]

    def run(self, *arguments: str) -> None:
        """Run the pipeline to its end."""
        self._run(self.command("spark-pipelines", "run", *arguments))

    def _run(self, command: list[str]) -> None:
        run(command, cwd=self.folder, env=self.environment, seconds=900)

    def run_and_kill(self) -> None:
        """Kill a run when each flow has committed some batches, and not all."""
        with subprocess.Popen(
            self.command("spark-pipelines", "run"),
            cwd=self.folder,
            env=self.environment,
            stdout=subprocess.DEVNULL,
            stderr=(self.folder / "log").open("wb"),
            start_new_session=True,
        ) as process:

            def failed() -> bool:
                return process.poll() is not None

            try:
                wait_for("the run begins", lambda: failed() or self.begun())
                wait_for("all flows commit", lambda: failed() or len(self.committed()) == 4)
                assert not failed(), (self.folder / "log").read_text()[-6000:]
            finally:
                kill_session(process.pid)

    def begun(self) -> bool:
        """Whether a run has begun: Spark's start takes longer than the flows."""
        return (self.folder / "storage").exists()

    def committed(self) -> list[Path]:
        """The third commit of each flow."""
        return list((self.folder / "storage").glob("**/commits/2"))

    def rows(self, spark: SparkSession, table: str) -> DataFrame:
        """The rows of a table."""
        return spark.read.parquet(str(self.folder / "spark-warehouse" / table))


def assert_each_record_once(rows: DataFrame, stream: Stream) -> None:
    """Check rows with the columns of the source by their identity."""
    assert rows.count() == rows.select(*IDENTITY).distinct().count() == len(stream.written)


def numbers(rows: DataFrame, column: str) -> list[tuple[str, int]]:
    """Key and number of each row, sorted."""
    bodies = [json.loads(row[0]) for row in rows.selectExpr(f"string({column})").collect()]
    return sorted((body["key"], body["n"]) for body in bodies)


def test_a_killed_pipeline_loses_no_row_and_a_refresh_reads_again(
    spark: SparkSession, stream: Stream, kinesis: str, tmp_path: Path
) -> None:
    copies = Stream(kinesis, shards=1)
    project = Project(tmp_path, stream, copies)
    stream.put(20 * BATCH)
    project.run_and_kill()
    assert project.rows(spark, "raw_orders").count() < len(stream.written), "it was not killed"

    stream.put(len(KEYS))
    project.run()
    for table, column in (("raw_orders", "data"), ("order_texts", "text")):
        rows = project.rows(spark, table)
        assert_each_record_once(rows, stream)
        assert numbers(rows, column) == sorted((w.key, w.n) for w in stream.written)
    copied = source_of(kinesis, copies.name).read(spark)
    assert numbers(copied, "data") == sorted((w.key, w.n) for w in stream.written)
    assert project.rows(spark, "new_orders").count() == len(KEYS)
    # Spark's start takes longer than ten seconds, so the second records close the first windows.
    closed = project.rows(spark, "orders_per_minute").selectExpr("sum(orders)").first()
    assert closed is not None
    assert 20 * BATCH <= closed[0] <= len(stream.written)

    project.run("--full-refresh", "raw_orders,new_orders")
    assert_each_record_once(project.rows(spark, "raw_orders"), stream)
    assert project.rows(spark, "new_orders").isEmpty(), "the page says that it skips records"
