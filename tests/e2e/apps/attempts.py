"""Tasks that run more than once: after a failure, and as a copy of a slow task. Run by a test.

Arguments: endpoint, a folder. Prints what happened and the verdict as JSON in the last line.
"""

from __future__ import annotations

import json
import sys
import time
from pathlib import Path
from typing import TYPE_CHECKING, Any

from tests.e2e.support.cluster import new_session
from tests.e2e.support.harness import drain, running
from tests.e2e.support.placed import PlacedCollector, wait_even
from tests.e2e.support.standalone import standalone
from tests.e2e.support.streams import Stream
from tests.e2e.support.verdict import verdict

if TYPE_CHECKING:
    from collections.abc import Callable

    from pyspark.sql import SparkSession

SETTINGS = {
    "spark.executor.memory": "1g",
    "spark.task.maxFailures": "4",
    "spark.speculation": "true",
    "spark.speculation.quantile": "0.5",
    "spark.speculation.minTaskRuntime": "100ms",
    "spark.speculation.task.duration.threshold": "1s",  # a batch may have a single task
    "spark.speculation.efficiency.enabled": "false",
}


def meddling(folder: Path) -> Callable[[str, int, int], None]:
    """Two attempts fail while there is a file `fail`. Task 0 hangs if there is a file `slow`."""
    fail, slow = folder / "fail", folder / "slow"

    def meddle(executor: str, number: int, attempt: int) -> None:
        if fail.exists() and attempt < 2:
            (folder / f"failed-{executor}-{number}-{attempt}").touch()
            raise RuntimeError("failed as the test wants it")
        if slow.exists() and number == 0 and attempt == 0:
            slow.rename(folder / f"slow-{executor}")  # the other attempts do not hang
            time.sleep(60)
            raise TimeoutError("no copy has come first")

    return meddle


def main(endpoint: str, folder: str) -> None:
    """Run on a cluster, and print the result."""
    with standalone(Path(folder)) as master:
        spark = new_session(master, SETTINGS)
        try:
            said = run(spark, Stream(endpoint, shards=4), Path(folder))
        finally:
            spark.stop()
    print(json.dumps(said))


def run(spark: SparkSession, stream: Stream, folder: Path) -> dict[str, Any]:
    """Repeat and copy tasks in one query."""
    collector = PlacedCollector(meddling(folder))
    said: dict[str, Any] = {}
    with running(spark, stream.source(), folder / "checkpoint", collector) as query:
        wait_even(spark, stream, query, collector)
        for step, marks in (("fail", "failed-*"), ("slow", "slow-*")):
            reread, batches = collector.reread, len(collector.places)
            (folder / step).touch()
            stream.put(400)
            drain(stream, query, collector)
            (folder / step).unlink(missing_ok=True)
            places = {place for batch in collector.places[batches:] for place in batch}
            again = {place for place in places if place.attempt > 0}
            said[step] = {
                "first": sorted({file.name.split("-")[1] for file in folder.glob(marks)}),
                "again": sorted({place.executor for place in again}),
                "attempts": sorted({place.attempt for place in again}),
                "reread": collector.reread - reread,
                **verdict(stream.written, collector.numbered()),
            }
    return said


if __name__ == "__main__":
    main(*sys.argv[1:])
