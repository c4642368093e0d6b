"""A query whose executors are killed, decommissioned, removed and added. Run by a test.

Arguments: endpoint, a folder. Prints what happened and the verdict as JSON in the last line.
"""

from __future__ import annotations

import json
import os
import signal
import sys
import threading
from contextlib import contextmanager
from pathlib import Path
from typing import TYPE_CHECKING, Any

from tests.e2e.support.cluster import cluster_session, executor_logs
from tests.e2e.support.harness import drain, running
from tests.e2e.support.placed import PlacedCollector, holding, registered, wait_even
from tests.e2e.support.processes import executors
from tests.e2e.support.streams import Stream, wait_for
from tests.e2e.support.verdict import verdict

if TYPE_CHECKING:
    from collections.abc import Iterator

    from pyspark.sql import SparkSession
    from pyspark.sql.streaming.query import StreamingQuery

SETTINGS = {"spark.decommission.enabled": "true"}


class Life:
    """A query on a cluster, and what may happen to its executors; each returns what it saw."""

    def __init__(self, spark: SparkSession, endpoint: str, folder: Path) -> None:
        """Nothing runs yet."""
        self.spark = spark
        self.folder = folder
        self.application = spark.sparkContext.applicationId
        self.stream = Stream(endpoint, shards=4)
        self.collector = PlacedCollector(holding(folder))
        self.query: StreamingQuery

    def run(self) -> dict[str, Any]:
        """Everything, in one query."""
        self.wait_executors(2)
        source, checkpoint = self.stream.source(), self.folder / "checkpoint"
        with running(self.spark, source, checkpoint, self.collector) as self.query:
            steps = [
                self.killed_under_load,
                self.killed_in_batch,
                self.decommissioned,
                self.last_killed,
                self.added,
            ]
            return {step.__name__: {**step(), **self.verdict()} for step in steps}

    def verdict(self) -> dict[str, int]:
        """Over everything so far."""
        drain(self.stream, self.query, self.collector)
        return verdict(self.stream.written, self.collector.numbered())

    def killed_under_load(self) -> dict[str, Any]:
        """One of two, while records come in all the time."""
        wait_even(self.spark, self.stream, self.query, self.collector)
        with load(self.stream):
            victim, pid = self.kill(signal.SIGKILL)
            self.wait_gone(victim, pid)
            self.wait_executors(2)
        return {"left": victim}

    def killed_in_batch(self) -> dict[str, Any]:
        """One of two, with a task on it that has read a part of its rows."""
        wait_even(self.spark, self.stream, self.query, self.collector)
        before = self.collector.reread
        hold = self.folder / "hold"
        hold.touch()
        self.stream.put(400)
        wait_for("a task is at it", lambda: len(self.held()) > 0)
        victim, pid = self.kill(signal.SIGKILL, *self.held())
        self.wait_gone(victim, pid)
        hold.unlink()
        drain(self.stream, self.query, self.collector)
        self.wait_executors(2)
        return {"left": victim, "reread": self.collector.reread - before}

    def decommissioned(self) -> dict[str, Any]:
        """One of two, asked to leave as a machine's owner would; another one comes."""
        wait_even(self.spark, self.stream, self.query, self.collector)
        with load(self.stream):
            victim, pid = self.kill(signal.SIGPWR)
            self.wait_gone(victim, pid)
            self.wait_executors(2)
        return {"left": victim, "words": "Decommission" in executor_logs(self.application, victim)}

    def last_killed(self) -> dict[str, Any]:
        """One of two removed for good, then the only one killed: there is none for a while."""
        removed = min(registered(self.spark))
        self.spark.sparkContext._jsc.sc().killExecutor(removed)
        self.wait_executors(1)
        self.stream.put(200)
        drain(self.stream, self.query, self.collector)
        with load(self.stream):
            victim, pid = self.kill(signal.SIGKILL)
            self.wait_gone(victim, pid)
            self.wait_executors(0)  # Spark was told to do with less, and now brings none
            self.request(1)
        return {"removed": removed, "left": victim}

    def added(self) -> dict[str, Any]:
        """A second one beside the only one: it gets half of the shards."""
        alone = registered(self.spark)
        self.request(1)
        shares = wait_even(self.spark, self.stream, self.query, self.collector)
        return {"stayed": alone < set(shares), "shares": sorted(shares.values())}

    def request(self, more: int) -> None:
        """Ask Spark for more executors, and wait for them."""
        count = len(registered(self.spark)) + more
        self.spark.sparkContext._jsc.sc().requestExecutors(more)
        self.wait_executors(count)

    def kill(self, how: signal.Signals, *among: str) -> tuple[str, int]:
        """Send a signal to one executor, of these where some are named."""
        running = executors(self.application)
        victim = min(among or running)
        pid = running[victim]
        os.kill(pid, how)
        return victim, pid

    def held(self) -> set[str]:
        """The executors whose tasks wait."""
        return {file.name.split("-")[1] for file in self.folder.glob("held-*")}

    def wait_gone(self, executor: str, pid: int) -> None:
        """Until the process has ended and the driver knows."""
        wait_for(f"{executor} has ended", lambda: pid not in executors(self.application).values())
        wait_for(f"{executor} is missed", lambda: executor not in registered(self.spark))

    def wait_executors(self, count: int) -> None:
        """Until there are so many."""
        wait_for(f"{count} executors", lambda: len(registered(self.spark)) == count)


@contextmanager
def load(stream: Stream) -> Iterator[None]:
    """Writes without a pause, from before until after."""
    over = threading.Event()

    def write() -> None:
        while not over.is_set():
            stream.put(40)
            over.wait(0.02)

    writer = threading.Thread(target=write)
    writer.start()
    try:
        yield
    finally:
        over.set()
        writer.join()


def main(endpoint: str, folder: str) -> None:
    """Start the cluster, and stop it."""
    with cluster_session(executors=2, conf=SETTINGS) as spark:
        said = Life(spark, endpoint, Path(folder)).run()
    print(json.dumps(said))


if __name__ == "__main__":
    main(*sys.argv[1:])
