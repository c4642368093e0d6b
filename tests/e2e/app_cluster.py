"""A query on a cluster of two executors, one of which is killed. Run by a test.

Arguments: endpoint, checkpoint folder. Prints the verdict as JSON in the last line.
"""

from __future__ import annotations

import json
import os
import signal
import sys
from pathlib import Path
from typing import TYPE_CHECKING

from cluster import cluster_session
from harness import Collector, drain, running
from streams import Stream, wait_for
from verdict import verdict

if TYPE_CHECKING:
    from pyspark.sql import SparkSession


def executors(application: str) -> list[int]:
    """The process ids of one application's executors."""
    found = []
    for process in Path("/proc").iterdir():
        try:
            words = (process / "cmdline").read_bytes().decode(errors="replace").split("\0")
        except OSError:  # not a process, or gone meanwhile
            continue
        is_executor = any(word.endswith("CoarseGrainedExecutorBackend") for word in words)
        if is_executor and application in words:
            found.append(int(process.name))
    return found


def main(endpoint: str, checkpoint: str) -> None:
    """Start the cluster, and stop it."""
    with cluster_session(executors=2) as spark:
        said = kill_one(spark, endpoint, Path(checkpoint))
    print(json.dumps(said))


def kill_one(spark: SparkSession, endpoint: str, checkpoint: Path) -> dict[str, int]:
    """Write, read, kill, write, read; the victim and the verdict."""
    application = spark.sparkContext.applicationId
    wait_for("two executors", lambda: len(executors(application)) == 2)
    stream = Stream(endpoint, shards=4)
    collector = Collector()
    stream.put(400)
    with running(spark, stream.source(), checkpoint, collector) as query:
        collector.wait(query, stream.written)
        stream.put(400)
        victim = executors(application)[0]
        os.kill(victim, signal.SIGKILL)
        stream.put(400)
        drain(stream, query, collector)
        wait_for("a new executor", lambda: len(set(executors(application)) - {victim}) == 2)
        stream.put(400)
        drain(stream, query, collector)
    return {"killed": victim, **verdict(stream.written, collector.numbered())}


if __name__ == "__main__":
    main(*sys.argv[1:])
