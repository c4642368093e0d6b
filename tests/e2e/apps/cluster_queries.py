"""A query whose executors are killed, decommissioned, removed and added. Run by a test.

Arguments: endpoint, a folder, how to read. Prints what happened and the verdict as JSON in the last
line.
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
    from collections.abc import Callable, Iterator
    from contextlib import AbstractContextManager

    from pyspark.sql import SparkSession
    from pyspark.sql.streaming.query import StreamingQuery

SETTINGS = {"spark.decommission.enabled": "true"}


class Life:
    """A query on a cluster, and events of its executors. Each method returns what it saw."""

    def __init__(self, spark: SparkSession, stream: Stream, folder: Path) -> None:
        """Prepare. Nothing runs yet."""
        self.spark = spark
        self.folder = folder
        self.application = spark.sparkContext.applicationId
        self.stream = stream
        self.collector = PlacedCollector(holding(folder))
        self.query: StreamingQuery

    def run(self) -> dict[str, Any]:
        """All events, in one query."""
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
        """The verdict over all records so far."""
        drain(self.stream, self.query, self.collector)
        return verdict(self.stream.written, self.collector.numbered())

    def killed_under_load(self) -> dict[str, Any]:
        """Kill one of two executors while records arrive."""
        wait_even(self.spark, self.stream, self.query, self.collector)
        with load(self.stream):
            victim, pid = self.kill(signal.SIGKILL)
            self.wait_gone(victim, pid)
            self.wait_executors(2)
        return {"left": victim}

    def killed_in_batch(self) -> dict[str, Any]:
        """Kill one of two executors in the middle of a task."""
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
        """Decommission one of two executors. Another one starts."""
        wait_even(self.spark, self.stream, self.query, self.collector)
        with load(self.stream):
            victim, pid = self.kill(signal.SIGPWR)
            self.wait_gone(victim, pid)
            self.wait_executors(2)
        return {"left": victim, "words": "Decommission" in executor_logs(self.application, victim)}

    def last_killed(self) -> dict[str, Any]:
        """Remove one of two executors and kill the other, so that there is none for a while."""
        removed = min(registered(self.spark))
        self.spark.sparkContext._jsc.sc().killExecutor(removed)
        self.wait_executors(1)
        self.stream.put(200)
        drain(self.stream, self.query, self.collector)
        with load(self.stream):
            victim, pid = self.kill(signal.SIGKILL)
            self.wait_gone(victim, pid)
            self.wait_executors(0)  # Spark expects fewer executors now, and starts none
            self.request(1)
        return {"removed": removed, "left": victim}

    def added(self) -> dict[str, Any]:
        """Add a second executor. It gets half of the shards."""
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
        """Send a signal to one executor, or to one of those named."""
        running = executors(self.application)
        victim = min(among or running)
        pid = running[victim]
        os.kill(pid, how)
        return victim, pid

    def held(self) -> set[str]:
        """The executors with stopped tasks."""
        return {file.name.split("-")[1] for file in self.folder.glob("held-*")}

    def wait_gone(self, executor: str, pid: int) -> None:
        """Wait until the process has ended and the driver knows it."""
        wait_for(f"{executor} has ended", lambda: pid not in executors(self.application).values())
        wait_for(f"{executor} is missed", lambda: executor not in registered(self.spark))

    def wait_executors(self, count: int) -> None:
        """Wait for a number of executors."""
        wait_for(f"{count} executors", lambda: len(registered(self.spark)) == count)


def load(stream: Stream, pause_seconds: float = 0.02) -> AbstractContextManager[None]:
    """Write 40 records after each pause, all the time."""
    return repeated(lambda: stream.put(40), pause_seconds)


@contextmanager
def repeated(act: Callable[[], None], pause_seconds: float) -> Iterator[None]:
    """Call a function again and again in a thread, with a pause after each call."""
    over = threading.Event()

    def run() -> None:
        while not over.is_set():
            act()
            over.wait(pause_seconds)

    thread = threading.Thread(target=run)
    thread.start()
    try:
        yield
    finally:
        over.set()
        thread.join()


def main(endpoint: str, folder: str, mode: str) -> None:
    """Run on a cluster, and print the result."""
    with cluster_session(executors=2, conf=SETTINGS) as spark:
        said = Life(spark, Stream(endpoint, shards=4, mode=mode), Path(folder)).run()
    print(json.dumps(said))


if __name__ == "__main__":
    main(*sys.argv[1:])
