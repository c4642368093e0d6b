"""A query whose driver is killed. Its results are in files. Run by a test, more than once.

Arguments: endpoint, name of a stream that is there, how to read, a folder. Runs until there is a
file `stop`.
"""

from __future__ import annotations

import json
import sys
from dataclasses import asdict
from pathlib import Path
from typing import TYPE_CHECKING

from tests.e2e.support.cluster import cluster_session
from tests.e2e.support.harness import collected, running
from tests.e2e.support.programs import tell
from tests.e2e.support.streams import CONSUMERS, source_of, wait_for
from tests.e2e.support.verdict import Collected

if TYPE_CHECKING:
    from pyspark.sql import DataFrame


class Results:
    """A `foreachBatch` sink with a file per batch. A repeated batch must equal its file."""

    def __init__(self, folder: Path) -> None:
        """Use a folder, with the files in it."""
        self._folder = folder

    def __call__(self, frame: DataFrame, batch: int) -> None:
        """Write a batch atomically."""
        rows = sorted((collected(row, batch) for row in frame.collect()), key=lambda r: r.shard)
        text = json.dumps([asdict(row) for row in rows])
        file = self._folder / f"batch-{batch}.json"
        if file.exists():
            (self._folder / f"again-{batch}").touch()
            if file.read_text() != text:
                raise AssertionError(f"batch {batch} ran again with other rows")
        else:
            written = self._folder / f"part-{batch}"
            written.write_text(text)
            written.rename(file)
        # Here the batch is written, and Spark does not know it yet.
        while (self._folder / "hold").exists():
            (self._folder / f"held-{batch}").touch()
            wait_for("it may go on", lambda: not (self._folder / "hold").exists())


def results(folder: Path) -> list[Collected]:
    """All rows in the files, by batch."""
    files = sorted(folder.glob("batch-*.json"), key=lambda file: int(file.stem.split("-")[1]))
    return [Collected(**row) for file in files for row in json.loads(file.read_text())]


def main(endpoint: str, stream: str, mode: str, name: str) -> None:
    """Run on a cluster until the test ends the program."""
    folder = Path(name)
    source = source_of(endpoint, stream, consumer=CONSUMERS[mode])
    with cluster_session(executors=2) as spark:
        tell(spark, folder)
        with running(spark, source, folder / "checkpoint", Results(folder)) as query:
            while not (folder / "stop").exists() and not query.awaitTermination(1):
                pass


if __name__ == "__main__":
    main(*sys.argv[1:])
