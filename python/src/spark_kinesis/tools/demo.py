"""A query through two reshards and a kill, on a local Kinesis: ``make demo``.

``generate`` writes orders to the stream ``orders``. A PySpark query, in a process of its own,
writes them to the stream ``copy``. Meanwhile the demo splits a shard, kills the process of the
query, starts it again, and merges two shards. At the end it compares the orders written with those
that boto3 reads from ``copy``.
"""

from __future__ import annotations

import json
import os
import random
import shutil
import signal
import subprocess
import sys
import tempfile
import threading
import time
from collections import defaultdict
from collections.abc import Callable, Collection, Iterable
from concurrent.futures import Future, ThreadPoolExecutor
from contextlib import ExitStack, suppress
from dataclasses import dataclass, field
from importlib.util import find_spec
from pathlib import Path
from typing import TYPE_CHECKING, NamedTuple

import click
from rich.live import Live
from rich.table import Table

from spark_kinesis import SparkKinesisError
from spark_kinesis._extras import SPARK
from spark_kinesis._offsets import short_id
from spark_kinesis.local import LocalKinesis
from spark_kinesis.tools.facts.streams import describe, list_shards

from .cli import screen, to_stderr
from .generating import Record, Written, at_rate, generate
from .tailing import TRIM_HORIZON, Follower

if TYPE_CHECKING:
    from pyspark.sql import DataFrame
    from rich.console import Console

ORDERS, COPY = "orders", "copy"
CUSTOMERS, RATE = 50, 500
PATIENCE_SECONDS = 90.0
_FRAME_SECONDS, _PLAIN_SECONDS = 0.25, 2.0
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
    if shutil.which("java") is None and "JAVA_HOME" not in os.environ:
        raise SparkKinesisError("the demo needs Java 17 or 21: install a JDK, and set JAVA_HOME")
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
    """Run the demo. Its checkpoint and Spark's log go into the folder.

    Raises:
        SparkKinesisError: if the query ends, or does not read the orders in time.
    """
    with ExitStack() as stack:
        kinesis = stack.enter_context(LocalKinesis(streams={ORDERS: 2, COPY: 2}))
        threads = stack.enter_context(ThreadPoolExecutor(2))
        stage = Stage(kinesis, folder)
        stack.callback(stage.close)
        stage.tell("the local Kinesis runs, and 500 orders per second are written to it")
        stage.begin(threads)
        stage.start("the query starts at the oldest order")
        stage.until(stage.has_caught_up)
        stage.reshard("split")
        stage.watch(4)
        stage.kill("the process of the query was killed; the orders go on")
        stage.watch(3)
        stage.start("the query starts again from its checkpoint")
        stage.until(stage.has_caught_up)
        stage.reshard("merge")
        stage.watch(4)
        stage.end_orders()
        stage.tell("the last order is written; the query reads the rest")
        stage.until(stage.is_complete)
        stage.kill("the query is stopped, and the orders written and read are compared")
    return judge(stage.made[: stage.written.records], stage.arrivals)


class Arrival(NamedTuple):
    """An order read from the copy: the micro-batch and its row that wrote it, and the order."""

    batch: int
    row: int
    customer: str
    number: int


@dataclass(frozen=True, kw_only=True, slots=True)
class Verdict:
    """The result of the comparison.

    Attributes:
        written: number of orders that Kinesis acknowledged.
        read: number of rows that the query delivered.
        lost: number of orders that no row has.
        duplicated: number of orders in a second row, and of rows with a second order. The latter
            means that a micro-batch ran again with other rows, which must never happen.
        out_of_order: number of rows after a later order of the same customer.
        resent: number of records that repeat a row. The sink writes at least once, so it repeats
            the rows of a micro-batch that runs again. Readers recognize them by batch and row.
    """

    written: int
    read: int
    lost: int
    duplicated: int
    out_of_order: int
    resent: int

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


@dataclass
class Stage:
    """What the demo does, and what it shows meanwhile.

    Attributes:
        kinesis: the local Kinesis.
        folder: folder of the checkpoint and of Spark's log.
        made: the orders, as they were made.
        arrivals: the rows of the copy.
        written: what ``generate`` has written so far.
    """

    kinesis: LocalKinesis
    folder: Path
    made: list[OrderKey] = field(default_factory=list)
    arrivals: list[Arrival] = field(default_factory=list)
    written: Written = field(default_factory=Written)

    def __post_init__(self) -> None:
        """Start the clock and the display."""
        self._begun = time.monotonic()
        self._ended, self._closed = threading.Event(), threading.Event()
        self._work: list[Future[None]] = []
        self._query: subprocess.Popen[bytes] | None = None
        self._console: Console = screen()
        self._live = Live(console=self._console, auto_refresh=False)
        self._plain_due = 0.0
        if self._console.is_terminal:
            self._live.start()

    def close(self) -> None:
        """Stop everything."""
        self._ended.set()
        self._closed.set()
        self._kill()
        self._live.stop()

    def begin(self, threads: ThreadPoolExecutor) -> None:
        """Write orders and read the copy, in threads."""
        self._work = [threads.submit(self._write), threads.submit(self._read)]

    def end_orders(self) -> None:
        """Stop writing, and return when all orders are written."""
        self._ended.set()
        self._work[0].result()

    def start(self, event: str) -> None:
        """Start the query in a process of its own, which a signal ends with all its children."""
        self.tell(event)
        words = [sys.executable, "-m", __name__, self.kinesis.endpoint, str(self.folder)]
        # A killed process removes no temporary file, so all of them go into the folder.
        places = dict.fromkeys(("TMPDIR", "SPARK_LOCAL_DIRS"), str(self.folder))
        environment = {**os.environ, **places, "PYSPARK_PYTHON": sys.executable}
        environment.pop("SPARK_REMOTE", None)  # the demo starts a session of its own
        with (self.folder / "spark.log").open("ab") as log:
            self._query = subprocess.Popen(
                words,
                stdin=subprocess.DEVNULL,
                stdout=log,
                stderr=log,
                env=environment,
                start_new_session=True,
            )

    def kill(self, event: str) -> None:
        """Kill the process of the query."""
        self._kill()
        self.tell(event)

    def reshard(self, verb: str) -> None:
        """Split or merge shards of the orders."""
        if verb == "split":
            self.kinesis.split(ORDERS)
        else:
            self.kinesis.merge(ORDERS)
        opened = [short_id(it.id) for it in self.kinesis.shards(ORDERS) if it.is_open]
        self.tell(f"{verb} in {ORDERS}: its open shards are {', '.join(opened)}")

    def watch(self, seconds: float) -> None:
        """Update the display for some seconds."""
        until = time.monotonic() + seconds
        while time.monotonic() < until:
            self._show()
            time.sleep(_FRAME_SECONDS)

    def until(self, condition: Callable[[], bool]) -> None:
        """Update the display until a condition holds.

        Raises:
            SparkKinesisError: if the query ends, or the condition does not hold in time.
        """
        until = time.monotonic() + PATIENCE_SECONDS
        while not condition():
            if self._query is not None and self._query.poll() is not None:
                raise SparkKinesisError("the query of the demo has ended: see Spark's log above")
            if time.monotonic() > until:
                raise SparkKinesisError(
                    f"the query of the demo has read {len(self._seen()):,} of "
                    f"{self.written.records:,} orders after {PATIENCE_SECONDS:.0f} s"
                )
            self._show()
            time.sleep(_FRAME_SECONDS)

    def has_caught_up(self) -> bool:
        """Whether almost all orders have arrived."""
        seen = len(self._seen())
        return seen > 0 and self.written.records - seen < _CAUGHT_UP

    def is_complete(self) -> bool:
        """Whether all orders have arrived."""
        return len(self._seen()) >= self.written.records

    def tell(self, event: str) -> None:
        """Show an event."""
        self._console.print(f"{time.monotonic() - self._begun:5.1f} s  {event}", markup=False)

    def _show(self) -> None:
        """Show the figures: a table on a terminal, and otherwise a line every two seconds."""
        for work in self._work:
            if work.done():
                work.result()  # raises its error
        written, seen = self.written.records, len(self._seen())
        if not self._console.is_terminal:
            if time.monotonic() >= self._plain_due:
                self._plain_due = time.monotonic() + _PLAIN_SECONDS
                self.tell(f"written {written:6}  read {seen:6}  lag {written - seen:6}")
            return
        table = Table(title="orders > query > copy", title_justify="left")
        for name in ("written", "read", "lag", "open shards", "query"):
            table.add_column(name, justify="right")
        opened = sum(it.is_open for it in list_shards(self.kinesis.client, ORDERS))
        state = "running" if self._query is not None else "[red]killed[/]"
        table.add_row(f"{written:,}", f"{seen:,}", f"{written - seen:,}", str(opened), state)
        self._live.update(table, refresh=True)

    def _seen(self) -> set[OrderKey]:
        return {(it.customer, it.number) for it in list(self.arrivals)}

    def _write(self) -> None:
        def make(number: int, chance: random.Random) -> Record:
            customer, order = f"customer-{number % CUSTOMERS}", number // CUSTOMERS + 1
            self.made.append((customer, order))
            price = chance.randrange(100, 10_000) / 100
            return customer, json.dumps(
                {"customer": customer, "number": order, "price": price}
            ).encode()

        def progress(written: Written) -> None:
            self.written = written

        orders = at_rate(make, RATE, seed=7)
        until_end = iter(lambda: None if self._ended.is_set() else next(orders), None)
        generate(ORDERS, until_end, kinesis=self.kinesis.client, on_progress=progress)

    def _read(self) -> None:
        def rest(seconds: float) -> None:
            self._closed.wait(seconds)

        client = self.kinesis.client
        shards = [it.id for it in list_shards(client, COPY)]
        follower = Follower(
            client,
            describe(client, COPY).arn,
            TRIM_HORIZON,
            shards,
            waits_for_all=True,
            share=1.0,
            sleep=rest,
        )
        for _, records in follower.pages(until_tip=False):
            rows = [json.loads(it["Data"]) for it in records]
            names = ("batch", "row", "customer", "number")
            self.arrivals += [Arrival(**{name: row[name] for name in names}) for row in rows]
            if self._closed.is_set():
                return

    def _kill(self) -> None:
        query, self._query = self._query, None
        if query is None:
            return
        if sys.platform == "win32":
            query.kill()
        else:
            with suppress(ProcessLookupError):  # it may have ended
                os.killpg(query.pid, signal.SIGKILL)  # Spark's JVM is a child of the process
        query.wait()


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
        .config("spark.ui.showConsoleProgress", "false")
        .config("spark.driver.host", "127.0.0.1")
        # In a run of a minute, the second compiler costs more than it gains.
        .config(
            "spark.driver.extraJavaOptions",
            f"-XX:TieredStopAtLevel=1 -Djava.io.tmpdir={folder}",
        )
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
