"""Dynamic allocation: Spark ends idle executors, but not those that read ahead. Run by a test.

Arguments: endpoint, a folder, how to read. Prints what happened and the verdict as JSON in the last
line.
"""

from __future__ import annotations

import json
import sys
import time
from pathlib import Path
from typing import TYPE_CHECKING, Any

from tests.e2e.support.cluster import cluster_session
from tests.e2e.support.harness import drain, running
from tests.e2e.support.placed import PlacedCollector, registered, wait_even
from tests.e2e.support.streams import Stream, wait_for
from tests.e2e.support.verdict import verdict

if TYPE_CHECKING:
    from collections.abc import Iterable, Iterator

    from pyspark.sql import SparkSession

IDLE_SECONDS = 2
SETTINGS = {
    "spark.dynamicAllocation.enabled": "true",
    "spark.dynamicAllocation.shuffleTracking.enabled": "true",
    "spark.dynamicAllocation.executorIdleTimeout": f"{IDLE_SECONDS}s",
    "spark.dynamicAllocation.maxExecutors": "2",
}


def main(endpoint: str, folder: str, mode: str) -> None:
    """Run on a cluster, and print the result."""
    with cluster_session(executors=2, conf=SETTINGS) as spark:
        said = run(spark, Stream(endpoint, shards=4, mode=mode), Path(folder))
    print(json.dumps(said))


def run(spark: SparkSession, stream: Stream, folder: Path) -> dict[str, Any]:
    """Executors start for a job and end; they start for a query, stay, and end after it."""
    two_at_once(spark, folder / "before")
    had = registered(spark)
    wait_for("idle executors have gone", lambda: not registered(spark))
    collector = PlacedCollector()
    with running(spark, stream.source(), folder / "checkpoint", collector) as query:
        stream.put(200)
        drain(stream, query, collector)
        two_at_once(
            spark, folder / "while"
        )  # the second executor starts, gets its shards, and keeps them
        shares = wait_even(spark, stream, query, collector)
        reread = collector.reread
        idle_until = time.monotonic() + 3 * IDLE_SECONDS
        wait_for("nothing was to do for long", lambda: time.monotonic() > idle_until)
        stayed = registered(spark) == set(shares)
        stream.put(200)
        drain(stream, query, collector)
        reread = collector.reread - reread
    wait_for("they go with the query", lambda: not registered(spark))
    return {
        "before": len(had),
        "shares": sorted(shares.values()),
        "stayed": stayed,
        "reread": reread,
        **verdict(stream.written, collector.numbered()),
    }


def two_at_once(spark: SparkSession, folder: Path) -> None:
    """A job whose two tasks wait for each other, so that it needs two executors."""
    folder.mkdir()

    def meet(numbers: Iterable[int]) -> Iterator[int]:
        deadline = time.monotonic() + 60
        for number in numbers:
            (folder / str(number)).touch()
            while len(list(folder.iterdir())) < 2:
                if time.monotonic() > deadline:
                    raise TimeoutError("the other executor has not come")
                time.sleep(0.05)
            yield number

    spark.sparkContext.parallelize(range(2), 2).mapPartitions(meet).count()


if __name__ == "__main__":
    main(*sys.argv[1:])
