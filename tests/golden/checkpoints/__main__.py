"""Writes the checkpoints of this version, which `test_golden_checkpoints.py` continues.

Run it once for each release: `python -m tests.golden.checkpoints`. It writes the folder
`tests/golden/checkpoints/<version>`:

- `kinesis`: the data of the local Kinesis.
- `<kind>/checkpoint`: the checkpoint of a query, whose last batch is planned and not completed.
- `<kind>/rows.json`: its streams, all records of its source, the rows that its completed batches
  delivered, and the rows of its last batch.
"""

from __future__ import annotations

import json
import shutil
import tempfile
from dataclasses import astuple
from pathlib import Path
from typing import TYPE_CHECKING, Any

from spark_kinesis import __version__, stop_gracefully
from spark_kinesis.local import LocalKinesis
from tests.e2e.apps.copied import ONCE, PATIENCE
from tests.e2e.support.cluster import new_session
from tests.e2e.support.harness import Collector, drain, running
from tests.e2e.support.kpl import read_by_agg
from tests.e2e.support.streams import CONSUMERS, POLLING, Stream, wait_for

if TYPE_CHECKING:
    from pyspark.sql import SparkSession

FOLDER = Path(__file__).parent
RETENTION_HOURS = 8760  # the longest one of Kinesis


class Failing(Collector):
    """A collector whose first batch with rows, once collected, fails."""

    def __call__(self, frame: Any, batch: int) -> None:
        """Collect a batch, and fail if it has rows."""
        super().__call__(frame, batch)
        if self.rows:
            raise RuntimeError("this batch is not completed")


def new_stream(endpoint: str, name: str, mode: str = POLLING) -> Stream:
    """A stream that keeps its records as long as Kinesis can."""
    stream = Stream(endpoint, name=name, mode=mode)
    stream.client.increase_stream_retention_period(
        StreamName=name, RetentionPeriodHours=RETENTION_HOURS
    )
    return stream


def write_reading(spark: SparkSession, endpoint: str, mode: str, folder: Path) -> None:
    """A query that reads a stream with a split and a merge."""
    stream = new_stream(endpoint, mode, mode)
    stream.put(80)
    collector, failing = Collector(), Failing()
    with running(spark, stream.source(), folder / "checkpoint", collector) as query:
        drain(stream, query, collector)
        stream.split()
        stream.put(40)
        drain(stream, query, collector)
        stop_gracefully(query, PATIENCE)
    stream.merge(1)
    stream.put(40)
    with running(spark, stream.source(), folder / "checkpoint", failing) as query:
        wait_for("the last batch fails", lambda: not query.isActive)
    stream.split()
    stream.put(40)
    rows = {
        "streams": [stream.name],
        "written": [astuple(it) for it in stream.written],
        "delivered": [(it.key, it.n) for it in collector.numbered()],
        "again": [astuple(it) for it in failing.rows],
    }
    (folder / "rows.json").write_text(json.dumps(rows) + "\n", encoding="utf-8")


def write_copying(spark: SparkSession, endpoint: str, folder: Path) -> None:
    """A query that copies a stream exactly once. Spark does not know that the last batch ended."""
    source, target = new_stream(endpoint, "copied"), new_stream(endpoint, "copy")
    rows = source.source().read_stream(spark).select("partitionKey", "data")
    checkpoint = folder / "checkpoint"
    query = target.sink(**ONCE).write_stream(rows, checkpoint_location=checkpoint).start()
    for _ in range(2):
        source.put(80)
        wait_for("every row", lambda: len(read_by_agg(target)) == len(source.written))
    stop_gracefully(query, PATIENCE)
    last = max(int(file.name) for file in (checkpoint / "commits").glob("[0-9]*"))
    (checkpoint / "commits" / f"{last}").unlink()
    (checkpoint / "commits" / f".{last}.crc").unlink()
    source.put(40)
    said = {
        "streams": [source.name, target.name],
        "written": [astuple(it) for it in source.written],
    }
    (folder / "rows.json").write_text(json.dumps(said) + "\n", encoding="utf-8")


def main() -> None:
    """Write all checkpoints."""
    with tempfile.TemporaryDirectory() as temporary:
        made = Path(temporary, __version__)
        made.mkdir()
        with LocalKinesis(persist=made / "kinesis") as kinesis:
            spark = new_session("local[2]", {})
            for mode in CONSUMERS:
                (made / mode).mkdir()
                write_reading(spark, kinesis.endpoint, mode, made / mode)
            (made / "exactly-once").mkdir()
            write_copying(spark, kinesis.endpoint, made / "exactly-once")
            spark.stop()
        shutil.rmtree(FOLDER / __version__, ignore_errors=True)
        shutil.copytree(made, FOLDER / __version__)


if __name__ == "__main__":
    main()
