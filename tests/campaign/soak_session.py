"""A Spark session in which queries come and go. Run by `soak.py`.

Argument: a folder. For each line with a seed on standard input, it runs some queries, stops them,
and prints a line with a JSON object of gauges.
"""

from __future__ import annotations

import gc
import json
import random
import shutil
import sys
import time
import traceback
from contextlib import ExitStack, suppress
from pathlib import Path
from typing import TYPE_CHECKING, Any

from spark_kinesis import EnhancedFanOut, stop_gracefully
from tests.e2e.apps.copied import ONCE, PATIENCE
from tests.e2e.support.cluster import new_session
from tests.e2e.support.streams import Stream, local_kinesis, wait_for

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
        self.lasting = [self.start(number, number) for number in range(LASTING)]

    def start(self, place: int, number: int) -> StreamingQuery:
        """Start a query of one of the kinds. At most one query runs in each place."""
        self.runs += 1
        checkpoint = self.checkpoint(self.runs)
        consumer = EnhancedFanOut(name=f"place-{place}") if place % 2 else None
        rows = self.source.source(consumer=consumer).read_stream(self.spark)
        if number % 5 == 0:
            writer = rows.writeStream.format("noop")
            return writer.option("checkpointLocation", str(checkpoint)).start()
        sink = self.target.sink(**SINKS[number % len(SINKS)])
        copied = rows.select("partitionKey", "data")
        return sink.write_stream(copied, checkpoint_location=checkpoint).start()

    def checkpoint(self, run: int) -> Path:
        """The checkpoint of a run."""
        return self.folder / f"checkpoint-{run}"

    def round(self, chance: random.Random) -> dict[str, float]:
        """Run some more queries for some batches, and stop them."""
        places = range(LASTING, LASTING + PASSING)
        passing = [self.start(place, chance.randrange(60)) for place in places]
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
        for run in range(self.runs - PASSING, self.runs):
            shutil.rmtree(self.checkpoint(run + 1))
        return self.gauges()

    def gauges(self) -> dict[str, float]:
        """What this JVM holds, with all passing queries stopped."""
        jvm: Any = self.spark._jvm
        env = jvm.org.apache.spark.SparkEnv.get()
        beans = jvm.java.lang.management.ManagementFactory
        heaps = []
        for _ in range(4):  # Spark's cleaner works in a thread of its own
            gc.collect()  # Python's references hold objects of the JVM
            jvm.java.lang.System.gc()
            time.sleep(0.5)
            heaps.append(beans.getMemoryMXBean().getHeapMemoryUsage().getUsed())
        opened = descriptors(jvm.java.lang.ProcessHandle.current().pid())
        connections = sum(it.startswith("socket:") for it in opened)
        return {
            "heap after collection, MB": round(min(heaps) / 1e6, 2),
            "threads": beans.getThreadMXBean().getThreadCount(),
            "open files": len(opened) - connections,
            "connections": connections,
            "RPC endpoints": field(field(env.rpcEnv(), "dispatcher"), "endpoints").size(),
            "disk, MB": round(size_of(self.folder) / 1e6, 2),
            "sources of metrics": field(env.metricsSystem(), "sources").size(),
        }


def batches(query: StreamingQuery) -> int:
    """The number of batches with rows of a query, or of those so far."""
    if not query.isActive:
        raise RuntimeError(f"the query ended: {query.exception()}")
    progress = query.lastProgress
    return -1 if progress is None else progress["batchId"]


def descriptors(pid: int) -> list[str]:
    """What the file descriptors of a process refer to. Skips those that are closed meanwhile."""
    found = []
    for it in Path(f"/proc/{pid}/fd").iterdir():
        with suppress(FileNotFoundError):
            found.append(str(it.readlink()))
    return found


def size_of(folder: Path) -> int:
    """The bytes of all files in a folder, without those that are just deleted."""
    total = 0
    for file in folder.rglob("*"):
        with suppress(FileNotFoundError):
            total += file.stat().st_size
    return total


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
        spark = new_session("local[4]", {**SETTINGS, "spark.local.dir": str(folder / "local")})
        stack.callback(spark.stop)
        session = Session(spark, kinesis.endpoint, folder)
        for line in sys.stdin:
            try:
                said: dict[str, Any] = session.round(random.Random(int(line)))
            except Exception:  # noqa: BLE001 - Spark's log hides it as the session ends
                said = {"failure": traceback.format_exc()}
            print(json.dumps(said), flush=True)


if __name__ == "__main__":
    main(*sys.argv[1:])
