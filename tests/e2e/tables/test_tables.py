"""The page about tables: its code runs with the real libraries, and the driver dies in between.

Each way to write is killed between the write of a batch and the note in the checkpoint, with a
split of a shard after the first death. Then the query goes back, and begins again.
"""

from __future__ import annotations

import json
import os
import re
import shutil
import signal
import subprocess
import sys
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

import pytest

from tests.docs.pages import FENCE, Page
from tests.e2e.support.programs import FOLDER, run
from tests.e2e.support.streams import REGION, Stream
from tests.sparks import python_on

if TYPE_CHECKING:
    from pathlib import Path

pytestmark = [pytest.mark.spark4, pytest.mark.slow]

PAGE = Page(name="docs/how-to/tables.md")
PAIR = re.compile(r"^\| (4\S+) \| ([\w ]+) \| `(\S+)` \|$", re.MULTILINE)
PAIRS = {
    f"{library}-{spark}": (spark, package) for spark, library, package in PAIR.findall(PAGE.text)
}
BATCH = 20


@pytest.fixture
def stream(simulator: str) -> Stream:
    """A new stream with two shards."""
    return Stream(simulator)


def fences(heading: str) -> list[str]:
    """The Python of a section of the page."""
    pattern = rf"^## {heading}\n(.*?)(?=^## |\Z)"
    (section,) = re.findall(pattern, PAGE.text, re.MULTILINE | re.DOTALL)
    return [it["code"] for it in FENCE.finditer(section) if it["language"] == "python"]


@dataclass
class Program:
    """The page's code in a folder, for one library."""

    folder: Path
    stream: Stream
    python: str
    code: dict[str, Any]
    package: str = ""

    def run(self, ways: list[str], *, compact: list[str] | None = None) -> int:
        """Run it to its end. Returns the exit code."""
        chosen = {way: self._here(self.code["ways"][way]) for way in ways}
        code = {**self.code, "session": self._here(self.code["session"]), "ways": chosen}
        code["compact"] = compact or []
        script = self.folder / "code.json"
        script.write_text(json.dumps(code), encoding="utf-8")
        app = str(FOLDER / "table_session.py")
        with (self.folder / "out").open("wb") as out, (self.folder / "log").open("wb") as log:
            return subprocess.run(
                [self.python, app, str(script), str(self.folder)],
                cwd=self.folder,
                env=self._environment(),
                stdin=subprocess.DEVNULL,
                stdout=out,
                stderr=log,
                timeout=1500,
                check=False,
            ).returncode

    def tables(self, ways: list[str], *, compact: list[str] | None = None) -> dict[str, Any]:
        """Run it. Returns what is in the tables of these ways."""
        assert self.run(ways, compact=compact) == 0, self._log()
        return dict(json.loads((self.folder / "out").read_text().splitlines()[-1]))

    def die_and_restart(self, ways: list[str]) -> dict[str, Any]:
        """Run it until each way has died once. Returns what is in the tables."""
        self.stream.put(3 * BATCH)
        for death in range(len(ways)):
            assert self.run(ways) == -signal.SIGKILL, self._log()
            if not death:
                self.stream.split()
            self.stream.put(BATCH // 2)
        return self.tables(ways)

    def rewind(self, ways: list[str]) -> None:
        """Move the queries of these ways to the beginning of the stream."""
        for way in ways:
            words = ["--checkpoint", str(self.folder / "checkpoints" / way), "--to", "trim_horizon"]
            words += ["--yes", "--watch", "0s", "--region", REGION]
            run(
                [sys.executable, "-m", "spark_kinesis", "rewind", *words],
                cwd=self.folder,
                env=self._environment(),
            )

    def forget(self, way: str) -> None:
        """Delete the checkpoint of a way."""
        shutil.rmtree(self.folder / "checkpoints" / way)

    def _environment(self) -> dict[str, str]:
        return {**os.environ, **self.stream.environment(), "PYSPARK_PYTHON": self.python}

    def _here(self, code: str) -> str:
        settings = {
            "spark.ui.enabled": "false",
            "spark.sql.shuffle.partitions": "2",
            "spark.databricks.delta.snapshotPartitions": "1",
        }
        local = "".join(f".config({name!r}, {value!r})" for name, value in settings.items())
        for shown, used in {
            "SparkSession.builder": f'SparkSession.builder.master("local[2]"){local}',
            'stream_name="orders"': f'stream_name="{self.stream.name}"',
            "eu-west-1": REGION,
            '"trim_horizon",': f'"trim_horizon", max_records_per_trigger={BATCH},',
            'processingTime="1 minute"': "availableNow=True",
            "s3a://bucket/checkpoints/orders": str(self.folder / "checkpoints" / "WAY"),
            "s3a://bucket/tables/orders": str(self.folder / "tables" / "WAY"),
            "hdfs:///lake": str(self.folder / "lake"),
            "lake.sales.orders": "lake.sales.WAY",
            "foreachBatch(write)": "foreachBatch(deadly(write))",
        }.items():
            code = code.replace(shown, used)
        return re.sub(r"(io\.delta|org\.apache\.iceberg):\S+\d", self.package, code)

    def _log(self) -> str:
        return (self.folder / "log").read_text(errors="replace")[-6000:]


def long_program(library: str, folder: Path, stream: Stream, pair: str) -> Program:
    """The page's code for a library, on the Spark of a pair of the page."""
    spark, package = PAIRS[pair]
    session, append, write = fences(library)
    (merge,) = fences("MERGE by identity")
    is_delta = library == "Delta Lake"
    table = f"delta.`{folder}/tables/WAY`" if is_delta else "lake.sales.WAY"
    code = {
        "session": session,
        "ways": {"append": append, "write": write, "merge": merge},
        "table": table,
        "sink": "tables/WAY/_delta_log" if is_delta else "lake/sales/WAY/metadata",
        "commits": "[0-9]*.json" if is_delta else "v*.metadata.json",
        "before": 1,  # the table was created
        "refresh": [] if is_delta else ["REFRESH TABLE lake.sales.WAY"],
    }
    return Program(folder, stream, str(python_on(spark)), code, package)


def counts(found: dict[str, Any], what: str) -> dict[str, int]:
    """One of the numbers of each way."""
    return {way: seen[what] for way, seen in found.items()}


def check_once_and_again(program: Program, compact: str) -> dict[str, Any]:
    """Each row is there once after a death per way, and twice after a rewind, except by `MERGE`."""
    ways = ["append", "write", "merge"]
    found = program.die_and_restart(ways)
    all_rows = dict.fromkeys(ways, len(program.stream.written))
    assert counts(found, "rows") == counts(found, "distinct") == all_rows

    program.rewind(ways)
    found = program.tables(ways, compact=[compact])
    assert counts(found, "distinct") == all_rows
    twice = 2 * len(program.stream.written)
    assert counts(found, "rows") == {**all_rows, "append": twice, "write": twice}
    for way in ways:
        rows, files = found[way]["compacted"]
        assert rows == found[way]["rows"]
        assert files < found[way]["files"]
    return found


def check_a_new_checkpoint(program: Program) -> None:
    """With a new checkpoint, `append` has all rows again, and `write` skips new ones."""
    before = len(program.stream.written)
    program.stream.put(BATCH)
    ways = ["append", "write", "merge"]
    for way in ways:
        program.forget(way)
    found = program.tables(ways)
    after = len(program.stream.written)
    assert counts(found, "distinct") == {"append": after, "write": before, "merge": after}
    rows = {way: seen["rows"] - seen["before"] for way, seen in found.items()}
    assert rows == {"append": after, "write": 0, "merge": BATCH}


REPAIR = """
from pathlib import Path

query.awaitTermination()
spark.sql(f"DELETE FROM {table} WHERE sequenceNumber LIKE '%2'")
assert 0 < spark.table(table).count() < ALL
commits = Path("s3a://bucket/checkpoints/orders/commits").iterdir()
batches = [int(it.name) for it in commits if it.name.isdigit()]
rows = source.replay(spark, checkpoint="s3a://bucket/checkpoints/orders", batches=batches)
write(rows.drop("batchId"), 0)
"""


def check_a_repair(program: Program) -> None:
    """A replay adds the rows that are missing to the table of `MERGE`, and no other row."""
    every = len(program.stream.written)
    program.code["ways"]["merge"] += REPAIR.replace("ALL", str(every))
    found = program.tables(["merge"])
    assert counts(found, "rows") == counts(found, "distinct") == {"merge": every}


@pytest.mark.long  # it downloads Delta Lake
@pytest.mark.parametrize("pair", [it for it in PAIRS if "Delta" in it])
def test_delta_tables_have_each_row_once(stream: Stream, tmp_path: Path, pair: str) -> None:
    program = long_program("Delta Lake", tmp_path, stream, pair)
    found = check_once_and_again(program, f"OPTIMIZE delta.`{tmp_path}/tables/WAY`")
    assert counts(found, "cached") == counts(found, "rows"), "the page says: at once"
    check_a_new_checkpoint(program)
    check_a_repair(program)


@pytest.mark.long  # it downloads Iceberg
@pytest.mark.parametrize("pair", [it for it in PAIRS if "Iceberg" in it])
def test_iceberg_tables_have_each_row_once(stream: Stream, tmp_path: Path, pair: str) -> None:
    program = long_program("Apache Iceberg", tmp_path, stream, pair)
    rewrite = "CALL lake.system.rewrite_data_files(table => 'sales.WAY')"
    found = check_once_and_again(program, rewrite)["write"]
    assert found["cached"] == found["before"] < found["rows"], "the page says: the old snapshot"
    check_a_new_checkpoint(program)


PLAIN = """
def write(batch, batch_id):
    batch.write.mode("append").parquet(folder)


query = (
    orders.writeStream.foreachBatch(write)
    .option("checkpointLocation", "s3a://bucket/checkpoints/orders")
    .trigger(processingTime="1 minute")
    .start()
)
"""


def test_parquet_files_have_each_row_once_and_a_plain_append_has_some_twice(
    stream: Stream, tmp_path: Path
) -> None:
    session = fences("Delta Lake")[0].partition("table =")[0]
    session = re.sub(
        r"    SparkSession.builder.*?\n\)", "    SparkSession.builder\n)", session, flags=re.DOTALL
    )
    (append,) = fences("Parquet files")
    code = {
        "session": session,
        "ways": {"append": append, "plain": PLAIN},
        "table": f"parquet.`{tmp_path}/tables/WAY`",
        "sink": "tables/WAY/_spark_metadata",
        "commits": "[0-9]*",
        "before": 0,
        "refresh": [],
    }
    program = Program(tmp_path, stream, sys.executable, code)
    found = program.die_and_restart(["append", "plain"])
    written = len(stream.written)
    assert counts(found, "distinct") == {"append": written, "plain": written}
    assert found["append"]["rows"] == written
    assert written < found["plain"]["rows"] <= written + BATCH, "a batch has at most so many"

    program.forget("append")
    stream.put(10 * BATCH)
    found = program.tables(["append"])
    assert written < found["append"]["distinct"] < len(stream.written), "the page says: skipped"
