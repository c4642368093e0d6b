"""A query whose driver is suspended for 20 seconds, twice. Run by a test.

Arguments: endpoint, a folder, how to read. Prints what happened and the verdict as JSON in the last
line.
"""

from __future__ import annotations

import json
import os
import signal
import sys
import time
from contextlib import contextmanager
from pathlib import Path
from typing import TYPE_CHECKING, Any

from tests.e2e.support.cluster import cluster_session
from tests.e2e.support.harness import drain, running
from tests.e2e.support.placed import PlacedCollector, holding, wait_even
from tests.e2e.support.streams import Stream, wait_for
from tests.e2e.support.verdict import verdict

if TYPE_CHECKING:
    from collections.abc import Iterator

    from pyspark.sql import SparkSession

SUSPENDED_SECONDS = 20  # an executor that is silent for 11 s of running time loses its shards

# For Spark's scheduler, a suspended driver has waited for the executor that holds the pages.
SETTINGS = {"spark.locality.wait": "10min"}


def main(endpoint: str, folder: str, mode: str) -> None:
    """Run on a cluster, and print the result."""
    with cluster_session(executors=2, conf=SETTINGS) as spark:
        said = run(spark, Stream(endpoint, shards=4, mode=mode), Path(folder))
    print(json.dumps(said))


def run(spark: SparkSession, stream: Stream, folder: Path) -> dict[str, Any]:
    """Suspend the driver between two batches, and then in the middle of one."""
    jvm = spark._jvm
    assert jvm is not None
    driver = jvm.java.lang.ProcessHandle.current().pid()
    collector = PlacedCollector(holding(folder))
    with running(spark, stream.source(), folder / "checkpoint", collector) as query:
        wait_even(spark, stream, query, collector)
        reread, batches = collector.reread, len(collector.places)
        owners = newest_owners(collector, 0)
        with suspended(driver):
            write_slowly(stream)
        drain(stream, query, collector)
        (folder / "hold").touch()
        stream.put(200)
        wait_for("a task is at it", lambda: any(folder.glob("held-*")))
        with suspended(driver):
            write_slowly(stream)
        (folder / "hold").unlink()
        drain(stream, query, collector)
        return {
            "reread": collector.reread - reread,
            "moved": len(newest_owners(collector, batches).items() - owners.items()),
            **verdict(stream.written, collector.numbered()),
        }


@contextmanager
def suspended(process: int) -> Iterator[None]:
    """Suspend a process for a while. Its children continue."""
    resumed = time.monotonic() + SUSPENDED_SECONDS
    os.kill(process, signal.SIGSTOP)
    try:
        yield
        time.sleep(max(0.0, resumed - time.monotonic()))
    finally:
        os.kill(process, signal.SIGCONT)


def write_slowly(stream: Stream) -> None:
    """Write for a while, so that executors read ahead while nobody answers them."""
    for _ in range(20):
        stream.put(200)
        time.sleep(0.5)


def newest_owners(collector: PlacedCollector, batches: int) -> dict[str, str]:
    """The executor that last read each shard, in the batches from a number on."""
    newest = collector.places[batches:]
    return {place.shard: place.executor for batch in newest for place in batch}


if __name__ == "__main__":
    main(*sys.argv[1:])
