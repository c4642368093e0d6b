"""A query through two reshards and a kill, on a local Kinesis: ``make demo``.

``generate`` writes orders to the stream ``orders``. A PySpark query, in a process of its own,
writes them to the stream ``copy``. Meanwhile the demo splits a shard, kills the process of the
query, starts it again, and merges two shards. At the end it compares both streams.
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
from collections import defaultdict
from collections.abc import Collection, Iterable
from concurrent.futures import ThreadPoolExecutor
from contextlib import ExitStack, suppress
from dataclasses import dataclass
from importlib.util import find_spec
from itertools import takewhile
from pathlib import Path
from typing import TYPE_CHECKING, Any, NamedTuple

import click

from spark_kinesis import SparkKinesisError
from spark_kinesis._extras import SPARK
from spark_kinesis.local import LocalKinesis

from .cli import to_stderr
from .generating import Written, generate, made

if TYPE_CHECKING:
    from pyspark.sql import DataFrame

ORDERS, COPY = "orders", "copy"
CUSTOMERS, RATE = 50, 500
PATIENCE_SECONDS = 180.0
_PERIOD_SECONDS = 2.0
_LOG_LINES = 30
_CAUGHT_UP = 2 * RATE

OrderKey = tuple[str, int]
"""The identity of an order: its customer, and the number of the customer's order."""


@click.command("demo")
def command() -> int:
    """Show a query through two reshards and a kill, on a local Kinesis. It takes about a minute.

    Orders of 50 customers go to a stream. A query copies them to another one. Its process is killed
    in the middle, so the last micro-batch runs again: its rows have the same batch and row number
    in the copy, and count once.

    \b
    Example:
      spark-kinesis demo

    Exit codes: 0 if every order arrived once and in order, 1 if not, 2 if the demo cannot run.
    """
    if find_spec("pyspark") is None:
        raise SparkKinesisError(f"the demo needs pyspark: pip install {SPARK}")
    with tempfile.TemporaryDirectory(prefix="spark-kinesis-demo-") as folder:
        try:
            verdict = run(Path(folder))
        except SparkKinesisError:
            log = Path(folder) / "spark.log"
            if log.is_file():
                to_stderr("\n".join(log.read_text(errors="replace").splitlines()[-_LOG_LINES:]))
            raise
    if verdict.resent:
        click.echo(f"{verdict.resent} rows arrived again with the same batch and row: counted once")
    click.echo(str(verdict))
    return 0 if verdict.is_flawless else 1


def run(folder: Path) -> Verdict:
    """Run the demo. Its checkpoint and Spark's log go into the folder."""
    with ExitStack() as stack:
        kinesis = stack.enter_context(LocalKinesis(streams={ORDERS: 2, COPY: 2}))
        threads = stack.enter_context(ThreadPoolExecutor(1))
        stage = Stage(kinesis, folder, threads)
        stack.callback(stage.kill)
        stack.callback(stage.ended.set)
        stage.tell("the local Kinesis runs, and 500 orders per second are written to it")
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
        return judge(stage.made[: stage.written], stage.arrivals())


class Arrival(NamedTuple):
    """An order read from the copy: the micro-batch and its row that wrote it, and the order."""

    batch: int
    row: int
    customer: str
    number: int


@dataclass(frozen=True, kw_only=True, slots=True)
class Verdict:
    """The result of the comparison.

    The sink writes at least once, so it repeats the rows of a micro-batch that runs again. Readers
    recognize them by batch and row, and count them once.
    """

    written: int  # number of orders that Kinesis acknowledged
    read: int  # number of rows that the query delivered
    lost: int  # number of orders that no row has
    duplicated: int  # number of orders in a second row, and of rows that ran with another order
    out_of_order: int  # number of rows after a later order of the same customer
    resent: int  # number of records that repeat a row

    @property
    def is_flawless(self) -> bool:
        """Whether there were orders, and exactly these arrived, once and in order."""
        faults = self.lost + self.duplicated + self.out_of_order
        return self.written > 0 and self.written == self.read and faults == 0

    def __str__(self) -> str:
        return (
            f"demo: written={self.written} read={self.read} lost={self.lost} "
            f"duplicated={self.duplicated} out_of_order={self.out_of_order}"
        )


def judge(written: Collection[OrderKey], arrivals: Iterable[Arrival]) -> Verdict:
    """Compare the orders read with the orders written.

    The order is that of the rows in the query: by micro-batch, then by row. The order of the
    records in the copy is arbitrary, because the sink has several requests in flight.
    """
    arrived = list(arrivals)
    deliveries = set(arrived)
    rows = {(batch, row) for batch, row, _, _ in deliveries}
    seen = {(customer, number) for _, _, customer, number in deliveries}
    greatest: dict[str, int] = defaultdict(int)
    out_of_order = 0
    for _, _, customer, number in sorted(deliveries):
        out_of_order += number < greatest[customer]
        greatest[customer] = max(greatest[customer], number)
    return Verdict(
        written=len(written),
        read=len(rows),
        lost=sum(order not in seen for order in written),
        duplicated=len(deliveries) - min(len(rows), len(seen)),
        out_of_order=out_of_order,
        resent=len(arrived) - len(deliveries),
    )


class Stage:
    """The orders, the process of the query, and the figures that are printed meanwhile."""

    def __init__(self, kinesis: LocalKinesis, folder: Path, threads: ThreadPoolExecutor) -> None:
        """Begin to write orders. The folder gets the checkpoint and Spark's log."""
        self._kinesis, self._folder = kinesis, folder
        self._begun = time.monotonic()
        self.ended = threading.Event()
        self._query: subprocess.Popen[bytes] | None = None
        self.made: list[OrderKey] = []
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
        """Print the figures until the query has read all orders but so many."""
        until = time.monotonic() + PATIENCE_SECONDS
        while (lag := self._lag()) > min(most, self.written - 1):
            if self._query is not None and self._query.poll() is not None:
                raise SparkKinesisError("the query of the demo has ended: see Spark's log above")
            if time.monotonic() > until:
                raise SparkKinesisError(
                    f"the query of the demo has not read {lag:,} of {self.written:,} orders after "
                    f"{PATIENCE_SECONDS:.0f} s"
                )
            time.sleep(_PERIOD_SECONDS)

    def arrivals(self) -> list[Arrival]:
        """The rows of the copy, also those that came again."""
        rows = (json.loads(it.data) for it in self._kinesis.records(COPY))
        return [Arrival(it["batch"], it["row"], it["customer"], it["number"]) for it in rows]

    def _lag(self) -> int:
        """Print the figures, and return how many orders the query has not read."""
        if self.work.done():
            self.work.result()  # raises its error
        seen = len({(it.customer, it.number) for it in self.arrivals()})
        lag = self.written - seen
        self.tell(f"written {self.written:6}  read {seen:6}  lag {lag:6}")
        return lag

    def _write(self) -> Written:
        def order(number: int) -> tuple[str, Any]:
            customer, count = f"customer-{number % CUSTOMERS}", number // CUSTOMERS + 1
            self.made.append((customer, count))
            return customer, {"customer": customer, "number": count}

        def progress(written: Written) -> None:
            self.written = written.records

        orders = takewhile(lambda _: not self.ended.is_set(), made(order))
        return generate(
            ORDERS, orders, kinesis=self._kinesis.client, rate=RATE, on_progress=progress
        )


def query(endpoint: str, folder: str) -> None:
    """Copy the orders, until the process is killed."""
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
    sink = KinesisSink(stream_name=COPY, **access)

    def write(orders: DataFrame, batch: int) -> None:
        """Write a micro-batch. It is a fixed set of records, so each row has the same number."""
        sink.write(
            orders.selectExpr(
                "monotonically_increasing_id() AS row",
                "from_json(string(data), 'customer string, number bigint') AS it",
            ).selectExpr(
                "it.customer AS partitionKey",
                f"to_json(struct({batch}L AS batch, row, it.*)) AS data",
            )
        )

    writer = source.read_stream(spark).writeStream.foreachBatch(write)
    writer = writer.option("checkpointLocation", str(Path(folder) / "checkpoint"))
    writer.trigger(processingTime="500 milliseconds").start().awaitTermination()


if __name__ == "__main__":
    query(*sys.argv[1:])
