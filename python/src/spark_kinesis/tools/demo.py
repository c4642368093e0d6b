"""A query through two reshards and a kill, on a local Kinesis: ``make demo``.

``generate`` writes orders to the stream ``orders``. A PySpark query, in a process of its own,
writes them to the stream ``copy``, exactly once. Meanwhile the demo splits a shard, kills the
process of the query, starts it again, and merges two shards. At the end it compares both streams.
``audit`` would not see a loss at the end of a task, or a wrong order.
"""

from __future__ import annotations

import json
import os
import signal
import subprocess
import sys
import tempfile
import threading
import time
from collections.abc import Sequence
from concurrent.futures import ThreadPoolExecutor
from contextlib import ExitStack, suppress
from importlib.util import find_spec
from itertools import takewhile
from pathlib import Path
from typing import Any

import click

from spark_kinesis import SparkKinesisError
from spark_kinesis._extras import SPARK
from spark_kinesis.local import LocalKinesis
from spark_kinesis.tools.facts.aggregates import parse

from .cli import to_stderr
from .generating import Written, generate, made

ORDERS, COPY = "orders", "copy"
CUSTOMERS, RATE = 50, 200
PATIENCE_SECONDS = 180.0
_PERIOD_SECONDS = 2.0
_LOG_LINES = 30
_CAUGHT_UP = 2 * RATE


@click.command("demo")
def command() -> int:
    """Show a query through two reshards and a kill, on a local Kinesis. It takes two minutes.

    Orders of 50 customers go to a stream. A query copies them to another one, exactly once. Its
    process is killed in the middle. After the restart, the sink waits 75 seconds, and reads back
    what the killed process had written.

    \b
    Example:
      spark-kinesis demo

    Exit codes: 0 if every order arrived once and in order, 1 if not, 2 if the demo cannot run.
    """
    if find_spec("pyspark") is None:
        raise SparkKinesisError(f"the demo needs pyspark: pip install {SPARK}")
    with tempfile.TemporaryDirectory(prefix="spark-kinesis-demo-") as folder:
        try:
            return run(Path(folder))
        except SparkKinesisError:
            log = Path(folder) / "spark.log"
            if log.is_file():
                to_stderr("\n".join(log.read_text(errors="replace").splitlines()[-_LOG_LINES:]))
            raise


def run(folder: Path) -> int:
    """Run the demo, and return its exit code. Its checkpoint and Spark's log go into the folder."""
    with ExitStack() as stack:
        kinesis = stack.enter_context(LocalKinesis(streams={ORDERS: 2, COPY: 2}))
        threads = stack.enter_context(ThreadPoolExecutor(1))
        stage = Stage(kinesis, folder, threads)
        stack.callback(stage.kill)
        stack.callback(stage.ended.set)
        stage.tell(f"the local Kinesis runs, and {RATE} orders per second are written to it")
        stage.start("the query starts at the oldest order")
        stage.until_behind(_CAUGHT_UP)
        kinesis.split(ORDERS)
        stage.tell("a shard of the orders was split")
        time.sleep(4)
        stage.kill()
        stage.tell("the process of the query was killed; the orders go on")
        time.sleep(3)
        stage.start("the query starts again from its checkpoint")
        stage.until_behind(_CAUGHT_UP)
        kinesis.merge(ORDERS)
        stage.tell("two shards of the orders were merged")
        time.sleep(4)
        stage.ended.set()
        stage.work.result()
        stage.tell("the last order is written; the query reads the rest")
        stage.until_behind(0)
        stage.kill()
        stage.tell("the query is stopped, and the orders written and read are compared")
        copied = stage.copied()
        found = faults(stage.written, copied)
        counts = {"written": stage.written, "read": len(copied), **found}
        click.echo("demo: " + " ".join(f"{name}={count}" for name, count in counts.items()))
        return int(any(found.values()) or not 0 < stage.written == len(copied))


Order = tuple[str, int]
"""A customer, and the number of the order."""


def faults(written: int, copied: Sequence[Order]) -> dict[str, int]:
    """Compare the orders 0 to ``written - 1`` with those in the copy, in its order."""
    numbers = [number for _, number in copied]
    latest: dict[str, int] = {}
    late = 0
    for customer, number in copied:
        late += number < latest.get(customer, -1)
        latest[customer] = max(number, latest.get(customer, -1))
    return {
        "lost": len(set(range(written)) - set(numbers)),
        "duplicated": len(numbers) - len(set(numbers)),
        "out_of_order": late,
    }


def is_behind(most: int, written: int, read: int) -> bool:
    """Whether more than so many of the orders are not read, or none is read yet."""
    return read == 0 or written - read > most


class Stage:
    """The orders, the process of the query, and the figures that are printed meanwhile."""

    def __init__(self, kinesis: LocalKinesis, folder: Path, threads: ThreadPoolExecutor) -> None:
        """Begin to write orders. The folder gets the checkpoint and Spark's log."""
        self._kinesis, self._folder = kinesis, folder
        self._begun = time.monotonic()
        self.ended = threading.Event()
        self._query: subprocess.Popen[bytes] | None = None
        self.written = 0
        self.work = threads.submit(self._write)

    def tell(self, event: str) -> None:
        """Print an event."""
        click.echo(f"{time.monotonic() - self._begun:5.1f} s  {event}")

    def start(self, event: str) -> None:
        """Start the query in a process of its own, which a signal ends with all its children."""
        self.tell(event)
        words = [sys.executable, "-m", __name__, self._kinesis.endpoint, str(self._folder)]
        # A killed process removes no temporary file, so all of them go into the folder.
        places = dict.fromkeys(("TMPDIR", "SPARK_LOCAL_DIRS"), str(self._folder))
        environment = {**os.environ, **places, "PYSPARK_PYTHON": sys.executable}
        environment.pop("SPARK_REMOTE", None)  # the demo starts a session of its own
        with (self._folder / "spark.log").open("ab") as log:
            self._query = subprocess.Popen(
                words,
                stdin=subprocess.DEVNULL,
                stdout=log,
                stderr=log,
                env=environment,
                start_new_session=True,
            )

    def kill(self) -> None:
        """Kill the process of the query."""
        query, self._query = self._query, None
        if query is None:
            return
        if sys.platform == "win32":
            query.kill()
        else:
            with suppress(ProcessLookupError):  # it may have ended
                os.killpg(query.pid, signal.SIGKILL)  # Spark's JVM is a child of the process
        query.wait()

    def until_behind(self, most: int) -> None:
        """Print the figures until the query has read some orders, and all but so many."""
        until = time.monotonic() + PATIENCE_SECONDS
        while is_behind(most, *(figures := self._figures())):
            if self._query is not None and self._query.poll() is not None:
                raise SparkKinesisError("the query of the demo has ended: see Spark's log above")
            if time.monotonic() > until:
                written, read = figures
                raise SparkKinesisError(
                    f"the query of the demo has read {read:,} of {written:,} orders after "
                    f"{PATIENCE_SECONDS:.0f} s"
                )
            time.sleep(_PERIOD_SECONDS)

    def copied(self) -> list[Order]:
        """The orders in the copy. The order of each customer's orders is that of their shard."""
        aggregates = (parse(it.data) for it in self._kinesis.records(COPY))
        rows = (json.loads(row.data) for it in aggregates if it for row in it.rows)
        return [(it["customer"], it["number"]) for it in rows]

    def _figures(self) -> tuple[int, int]:
        """Print and return how many orders were written by now, and how many were read then."""
        if self.work.done():
            self.work.result()  # raises its error
        written = self.written
        read = len(set(self.copied()))
        self.tell(f"written {written:6}  read {read:6}  lag {max(0, written - read):6}")
        return written, read

    def _write(self) -> Written:
        def order(number: int) -> tuple[str, Any]:
            customer = f"customer-{number % CUSTOMERS}"
            return customer, {"customer": customer, "number": number}

        def progress(written: Written) -> None:
            self.written = written.records

        orders = takewhile(lambda _: not self.ended.is_set(), made(order))
        return generate(
            ORDERS, orders, kinesis=self._kinesis.client, rate=RATE, on_progress=progress
        )


def query(endpoint: str, folder: str) -> None:
    """Copy the orders exactly once, until the process is killed."""
    from pyspark.sql import SparkSession  # noqa: PLC0415 optional, and slow to load

    from spark_kinesis import KinesisSink, KinesisSource, with_kinesis  # noqa: PLC0415
    from spark_kinesis.local import LocalEndpoint  # noqa: PLC0415

    access = LocalEndpoint(endpoint).access
    builder = (
        SparkSession.Builder()
        .master("local[2]")
        .appName("spark-kinesis demo")
        .config("spark.ui.enabled", "false")
        .config("spark.driver.host", "127.0.0.1")
        .config("spark.driver.extraJavaOptions", f"-Djava.io.tmpdir={folder}")
    )
    spark = with_kinesis(builder).getOrCreate()
    source = KinesisSource(stream_name=ORDERS, starting_position="trim_horizon", **access)
    sink = KinesisSink(
        stream_name=COPY,
        aggregation="kpl",
        delivery_guarantee="exactly_once",
        ordering="per_key",
        **access,
    )
    orders = source.read_stream(spark).select("partitionKey", "data")
    writer = sink.write_stream(orders, checkpoint_location=Path(folder) / "checkpoint")
    writer.trigger(processingTime="500 milliseconds").start().awaitTermination()


if __name__ == "__main__":
    query(*sys.argv[1:])
