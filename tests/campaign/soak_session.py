"""A Spark session in which queries come and go. Run by `soak.py`.

Argument: a folder. For each line with a seed on standard input, it runs some queries, stops them,
and prints a line with a JSON object of gauges.
"""

from __future__ import annotations

import gc
import json
import random
import sys
import time
from contextlib import ExitStack
from pathlib import Path
from typing import TYPE_CHECKING, Any

from spark_kinesis import stop_gracefully
from tests.e2e.apps.copied import ONCE, PATIENCE
from tests.e2e.support.cluster import new_session
from tests.e2e.support.streams import CONSUMERS, Stream, local_kinesis, wait_for

if TYPE_CHECKING:
    from pyspark.sql import SparkSession
    from pyspark.sql.streaming.query import StreamingQuery

LASTING = 10  # queries that run all the time
PASSING = 10  # queries of each round
SINKS: tuple[dict[str, Any], ...] = ({}, {"aggregation": "kpl"}, ONCE)

# Spark's own memory of the past is small enough to be full from the start: see `Leaks.scala`.
SETTINGS = {
    "spark.driver.memory": "2g",
    "spark.ui.retainedJobs": "5",
    "spark.ui.retainedStages": "5",
    "spark.ui.retainedTasks": "20",
    "spark.sql.ui.retainedExecutions": "5",
    "spark.sql.streaming.numRecentProgressUpdates": "2",
    "spark.sql.streaming.minBatchesToRetain": "2",
    "spark.sql.streaming.checkpointFileManagerClass": "org.apache.spark.sql.execution.streaming."
    "FileSystemBasedCheckpointFileManager",
}


class Session:
    """The session, its streams, and the queries that run all the time."""

    def __init__(self, spark: SparkSession, endpoint: str, folder: Path) -> None:
        """Start the lasting queries."""
        self.spark = spark
        self.folder = folder
        self.runs = 0
        self.source = Stream(endpoint, shards=2)
        self.target = Stream(endpoint, shards=2)
        self.lasting = [self.start(number) for number in range(LASTING)]

    def start(self, number: int) -> StreamingQuery:
        """Start a query of one of the kinds."""
        self.runs += 1
        checkpoint = self.folder / f"checkpoint-{self.runs}"
        consumer = CONSUMERS[list(CONSUMERS)[number % 2]]
        rows = self.source.source(consumer=consumer).read_stream(self.spark)
        if number % 5 == 0:
            writer = rows.writeStream.format("noop")
            return writer.option("checkpointLocation", str(checkpoint)).start()
        sink = self.target.sink(**SINKS[number % len(SINKS)])
        copied = rows.select("partitionKey", "data")
        return sink.write_stream(copied, checkpoint_location=checkpoint).start()

    def round(self, chance: random.Random) -> dict[str, float]:
        """Run some more queries for some batches, and stop them."""
        passing = [self.start(chance.randrange(60)) for _ in range(PASSING)]
        for _ in range(3):
            self.source.put(40)
            read = [(it, batches(it)) for it in [*passing, *self.lasting]]
            for query, before in read:
                wait_for("a batch", lambda q=query, n=before: batches(q) > n)  # type: ignore[misc]
        for query in passing:
            if chance.random() < 0.5:
                query.stop()
            else:
                assert stop_gracefully(query, PATIENCE)
        return self.gauges()

    def gauges(self) -> dict[str, float]:
        """What this JVM holds, with all passing queries stopped."""
        jvm: Any = self.spark._jvm
        env = jvm.org.apache.spark.SparkEnv.get()
        process = Path("/proc", str(jvm.java.lang.ProcessHandle.current().pid()))
        beans = jvm.java.lang.management.ManagementFactory
        heaps = []
        for _ in range(4):  # Spark's cleaner works in a thread of its own
            gc.collect()  # Python's references hold objects of the JVM
            jvm.java.lang.System.gc()
            time.sleep(0.5)
            heaps.append(beans.getMemoryMXBean().getHeapMemoryUsage().getUsed())
        return {
            "heap after collection, MB": round(min(heaps) / 1e6, 2),
            "threads": beans.getThreadMXBean().getThreadCount(),
            "open files": len(list((process / "fd").iterdir())),
            "RPC endpoints": field(field(env.rpcEnv(), "dispatcher"), "endpoints").size(),
            "sources of metrics": field(env.metricsSystem(), "sources").size(),
        }


def batches(query: StreamingQuery) -> int:
    """The number of batches with rows of a query, or of those so far."""
    if not query.isActive:
        raise RuntimeError(f"the query ended: {query.exception()}")
    progress = query.lastProgress
    return -1 if progress is None else progress["batchId"]


def field(of: Any, name: str) -> Any:
    """A private field of an object of the JVM."""
    found = of.getClass().getDeclaredField(name)
    found.setAccessible(True)
    return found.get(of)


def main(name: str) -> None:
    """Run a round for each line."""
    folder = Path(name)
    with ExitStack() as stack:
        kinesis = stack.enter_context(local_kinesis())
        spark = new_session("local[4]", SETTINGS)
        stack.callback(spark.stop)
        session = Session(spark, kinesis.endpoint, folder)
        for line in sys.stdin:
            said = session.round(random.Random(int(line)))
            print(json.dumps(said), flush=True)


if __name__ == "__main__":
    main(*sys.argv[1:])
