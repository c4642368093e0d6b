"""Planned stops of streaming queries."""

from __future__ import annotations

import os
import signal
import threading
import time
from datetime import timedelta
from typing import TYPE_CHECKING, Any

from ._retry import pause
from ._session.missing import require_connector, require_connector_in

if TYPE_CHECKING:
    from collections.abc import Callable
    from types import FrameType

    from pyspark.sql import SparkSession
    from pyspark.sql.streaming.query import StreamingQuery

_TABLE = "sparkkinesis.spark.stop.QueryStopTable"
_PAUSE_SECONDS = 0.1


def stop_gracefully(query: StreamingQuery, timeout: timedelta) -> bool:
    """Wait until the running micro-batch has committed, then stop the query.

    The query begins no other micro-batch meanwhile. So a later run with the same checkpoint repeats
    none, and the sink writes no row twice. This holds for a query that reads from Kinesis with this
    connector, whatever it writes to, and for a query that writes to Kinesis with ``writeStream``.

    If the micro-batch does not end within the timeout, it is interrupted. A later run then repeats
    it. The function returns when the query's thread has ended, or raises Spark's error after
    ``spark.sql.streaming.stopTimeout``, which has no limit by default.

    Do not call this function in ``foreachBatch``: there it would wait for its own micro-batch.

    Args:
        query: a query of a classic session or of Spark Connect.
        timeout: time until the running micro-batch is interrupted.

    Returns:
        Whether the query ended between two micro-batches. False also if the query has failed, or
        if its micro-batch was running when something else stopped it. For a query that had ended
        before the call: whether it has not failed.

    Raises:
        KinesisJarMissingError: if the connector's jar is not in the session.
    """
    millis = _millis(timeout)
    if _is_connect(query):
        session: SparkSession = query._session  # type: ignore[attr-defined]  # noqa: SLF001
        require_connector(session)
        table = session.read.format(_TABLE).option("run", query.runId)
        answer = table.option("timeoutMillis", millis).load().collect()[0][0]
        # The table does not know a query that has ended.
        return query.exception() is None if answer is None else bool(answer)
    return bool(_jvm().QueryStop.stop(query._jsq, millis))  # noqa: SLF001


def stop_on_sigterm(spark: SparkSession, timeout: timedelta) -> None:
    """Stop all queries of a session gracefully when this process receives ``SIGTERM``.

    Call this function once, in the main thread. When the signal arrives, ``awaitTermination`` of
    each query returns after its running micro-batch has committed, and your program continues after
    it. Queries that start later are stopped too, until your program ends. In a classic session,
    Spark's JVM stops the queries in the same way when it receives the signal itself, or when this
    process has ended.

    The signal has its earlier effect, which by default ends the process, if no query is active when
    it arrives, and when it arrives a second time.

    Args:
        spark: the session of the queries.
        timeout: time until a running micro-batch is interrupted. Choose a shorter time than the
            platform waits between ``SIGTERM`` and ``SIGKILL``.

    Raises:
        ValueError: if you call it in another thread than the main thread.
        KinesisJarMissingError: if the connector's jar is not in the session.
    """
    millis = _millis(timeout)
    is_connect = _is_connect(spark)
    if is_connect:
        require_connector(spark)
    else:
        stops = _jvm()
    earlier = signal.getsignal(signal.SIGTERM)

    def on_signal(_number: int, _frame: FrameType | None) -> None:
        signal.signal(signal.SIGTERM, earlier or signal.SIG_DFL)
        # The main thread may be in the middle of a call to the JVM, and cannot make another one.
        _start(_stop_all, spark, timeout, daemon=True)

    signal.signal(signal.SIGTERM, on_signal)
    if not is_connect:
        stops.QueryStop.atShutdown(spark._jsparkSession, millis)  # noqa: SLF001


def _stop_all(spark: SparkSession, timeout: timedelta) -> None:
    """Stop each query that is active, now or later. Without one, pass the signal on.

    A call of Spark Connect may fail although the session goes on. It is then made again, without
    an active query until the timeout.
    """
    stopping: set[str] = set()
    was_active, until = False, time.monotonic() + timeout.total_seconds()
    while True:
        try:
            for query in spark.streams.active:
                was_active = True
                if query.runId not in stopping:
                    _start(_stop_one, spark, query, timeout, daemon=False)
                    stopping.add(query.runId)
            is_over = not was_active
        except Exception:  # noqa: BLE001 its class differs between Spark's versions and interfaces
            is_over = _has_ended(spark) or (not was_active and time.monotonic() > until)
        if is_over:
            break
        time.sleep(_PAUSE_SECONDS)
    if not was_active:
        os.kill(os.getpid(), signal.SIGTERM)


def _stop_one(spark: SparkSession, query: StreamingQuery, timeout: timedelta) -> None:
    """Stop a query within the timeout, also if some calls fail. The last call interrupts it."""
    until, attempt = time.monotonic() + timeout.total_seconds(), 0
    while True:
        left = max(0.0, until - time.monotonic())
        try:
            stop_gracefully(query, timedelta(seconds=left))
        except Exception:
            if not left or _has_ended(spark):
                raise
            time.sleep(min(left, pause(attempt)))
            attempt += 1
        else:
            return


def _has_ended(spark: SparkSession) -> bool:
    try:
        if _is_connect(spark):
            return bool(spark.is_stopped)  # type: ignore[attr-defined]
        context: Any = spark.sparkContext._jsc  # noqa: SLF001
        return context is None or bool(context.sc().isStopped())
    except Exception:  # noqa: BLE001 the JVM has ended
        return True


def _start(target: Callable[..., object], *args: object, daemon: bool) -> None:
    threading.Thread(target=target, args=args, name="spark-kinesis-stop", daemon=daemon).start()


def _millis(timeout: timedelta) -> int:
    return max(0, timeout // timedelta(milliseconds=1))


def _is_connect(thing: object) -> bool:
    return "connect" in type(thing).__module__


def _jvm() -> Any:
    # A program without Spark imports this module, too.
    from pyspark import SparkContext  # noqa: PLC0415

    jvm = SparkContext._jvm  # noqa: SLF001
    require_connector_in(jvm)
    return jvm.sparkkinesis.spark.stop  # type: ignore[union-attr]
