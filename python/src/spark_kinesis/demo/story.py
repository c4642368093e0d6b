"""The demo from start to verdict."""

from __future__ import annotations

from collections.abc import Callable
from concurrent.futures import Future
from contextlib import ExitStack, closing
from pathlib import Path
from threading import Thread
from typing import TYPE_CHECKING

from spark_kinesis.local import LocalKinesis

from .books import Books
from .query import COUNTS, LOG, PARSED, Query
from .screen import open_screen
from .session import start_session
from .shards import merge, split
from .stage import Stage
from .traffic import Traffic, client_of

if TYPE_CHECKING:
    from pyspark.sql import SparkSession

    from .verdict import Verdict

STREAMS = {LOG: 2, PARSED: 2, COUNTS: 1}
SPARK_SECONDS = 60.0
PATIENCE_SECONDS = 20.0


def run(folder: Path) -> Verdict:
    """Run the demo. Its checkpoint and Spark's log go into the folder."""
    books = Books()
    with ExitStack() as stack:
        kinesis = stack.enter_context(LocalKinesis(streams=STREAMS))
        screen = stack.enter_context(closing(open_screen()))
        downstream = {PARSED: books.arrived, COUNTS: books.counted}
        traffic = stack.enter_context(closing(Traffic(kinesis, LOG, books, downstream)))
        stage = Stage(client_of(kinesis), books, screen, traffic)
        stage.tell("the local Kinesis runs, and a log of 50 clients is written to it")
        spark = start_spark(stage, folder / "spark.log")
        stack.callback(spark.stop)
        play(stage, lambda: Query(spark, kinesis, folder / "checkpoint"))
        traffic.end_log()
        stage.tell("the log has ended; the query reads the last lines")
        stage.watch_until(books.is_complete, PATIENCE_SECONDS)
        stage.stop("query stopped; now the lines written and read are compared")
        traffic.end_reading()
        stage.watch(0)
    return books.verdict()


def play(stage: Stage, start: Callable[[], Query]) -> None:
    """Restart the query and reshard the log while lines are written."""
    stage.start(start(), "query started at the oldest line")
    stage.watch_until(stage.has_caught_up, PATIENCE_SECONDS)
    stage.watch(3)
    stage.reshard(split, "was split")
    stage.watch(5)
    stage.stop("query stopped; the log goes on")
    stage.watch(4)
    stage.start(start(), "query started again from its checkpoint")
    stage.watch_until(stage.has_caught_up, PATIENCE_SECONDS)
    stage.watch(2)
    stage.reshard(merge, "were merged")
    stage.watch(5)


def start_spark(stage: Stage, log: Path) -> SparkSession:
    """Start Spark while lines are written.

    Raises:
        TimeoutError: if it takes more than a minute.
    """
    started: Future[SparkSession] = Future()
    Thread(target=_start_into, args=(started, log), daemon=True).start()
    if not stage.watch_until(started.done, SPARK_SECONDS):
        raise TimeoutError(f"Spark did not start within {SPARK_SECONDS:.0f} s")
    return started.result()


def _start_into(started: Future[SparkSession], log: Path) -> None:
    """Start Spark in a daemon thread: at the end, Python does not wait for it."""
    try:
        started.set_result(start_session(log))
    except BaseException as error:  # noqa: BLE001 raised by whoever waits
        started.set_exception(error)
