"""Listens to the progress of all queries of a session."""

from __future__ import annotations

import json
import threading
import time
from collections.abc import Callable, Sequence
from contextlib import suppress
from typing import TYPE_CHECKING, Any, Protocol

from spark_kinesis._times import from_iso, to_millis, utc_now

from ._samples import RunTotals, Sample

if TYPE_CHECKING:
    from pyspark.sql import SparkSession
    from pyspark.sql.streaming.listener import StreamingQueryListener

Live = Callable[[str], dict[int, dict[str, str]]]
LIVE_SECONDS = 10.0


class Exporter(Protocol):
    """Passes numbers on. One thread at a time calls it and waits for it, so it must not block."""

    def update(self, run: str, samples: Sequence[Sample], time_ms: int) -> None:
        """A query has made progress, or is later than before.

        Args:
            run: ID of its run.
            samples: its numbers, which replace those of before.
            time_ms: their time, in milliseconds since 1970.
        """

    def remove(self, run: str) -> None:
        """A query has ended."""


def monitor(spark: SparkSession, *exporters: Exporter) -> StreamingQueryListener:
    """Send the metrics of all queries of a session that read or write Kinesis.

    Spark reports the progress of a micro-batch after it. In a classic session, a thread therefore
    also asks the sources every ten seconds how late they are.

    Args:
        spark: the session. With Spark Connect, the listener runs in the client.
        exporters: where to send them.

    Returns:
        The listener, for ``spark.streams.removeListener``.

    Raises:
        ValueError: without an exporter.
    """
    if not exporters:
        raise ValueError("name at least one exporter, such as PrometheusMetrics(port=9404)")
    listener = _listener(Monitored(exporters, _live(spark)))
    spark.streams.addListener(listener)
    return listener


def _live(spark: SparkSession) -> Live | None:
    """Asks the driver's JVM. ``None`` with Spark Connect, where the client has none."""
    if "connect" in type(spark).__module__:
        return None
    jvm: Any = spark.sparkContext._jvm  # noqa: SLF001
    metrics = jvm.sparkkinesis.spark.metrics
    return lambda run: {
        int(number): dict(it) for number, it in metrics.LiveSources.metrics(run).items()
    }


class Monitored:
    """The runs of queries, and the exporters of their numbers. Safe for many threads."""

    def __init__(
        self, exporters: Sequence[Exporter], live: Live | None, pause: float = LIVE_SECONDS
    ) -> None:
        """Know no run.

        Args:
            exporters: where numbers go.
            live: returns the metrics of each source of a run as they are now.
            pause: seconds between two questions.
        """
        self._exporters, self._live, self._pause = exporters, live, pause
        self._lock = threading.Lock()
        self._runs: dict[str, RunTotals] = {}
        self._asks = False

    def started(self, run: str, query: str) -> None:
        """A query has started."""
        with self._lock:
            self._known(run, query)

    def _known(self, run: str, query: str) -> RunTotals:
        totals = self._runs.setdefault(run, RunTotals(query))
        if self._live and not self._asks:
            self._asks = True
            threading.Thread(target=self._ask, name="spark-kinesis-monitor", daemon=True).start()
        return totals

    def progressed(self, progress: dict[str, Any]) -> None:
        """Spark has reported a progress."""
        run = str(progress["runId"])
        time_ms = to_millis(from_iso(progress["timestamp"]))
        with self._lock:
            totals = self._known(run, str(progress.get("name") or progress["id"]))
            self._send(run, totals.samples(progress), time_ms)

    def ended(self, run: str) -> None:
        """A query has ended."""
        with self._lock:
            totals = self._runs.pop(run, None)
            if totals and totals.last:
                for exporter in self._exporters:
                    exporter.remove(run)

    def _send(self, run: str, samples: Sequence[Sample], time_ms: int) -> None:
        if samples:
            for exporter in self._exporters:
                exporter.update(run, samples, time_ms)

    def _ask(self) -> None:
        """Ask about each run, until there is none."""
        while True:
            time.sleep(self._pause)
            with self._lock:
                runs = list(self._runs)
                self._asks = bool(runs)
            if not runs:
                return
            for run in runs:
                with suppress(Exception):  # The JVM ends, or the jar is not in the session.
                    self._update(run, self._live(run) if self._live else {})

    def _update(self, run: str, sources: dict[int, dict[str, str]]) -> None:
        with self._lock:
            totals = self._runs.get(run)
            if totals and sources:
                self._send(run, totals.later(sources), to_millis(utc_now()))


def _listener(monitored: Monitored) -> StreamingQueryListener:
    # The class is made here, because its base needs pyspark, and this package may not.
    from pyspark.sql.streaming.listener import StreamingQueryListener  # noqa: PLC0415

    class MetricsListener(StreamingQueryListener):
        def onQueryStarted(self, event: Any) -> None:  # noqa: N802 Spark's name
            monitored.started(str(event.runId), str(event.name or event.id))

        def onQueryProgress(self, event: Any) -> None:  # noqa: N802
            monitored.progressed(json.loads(event.progress.json))

        def onQueryIdle(self, event: Any) -> None:  # noqa: N802
            pass

        def onQueryTerminated(self, event: Any) -> None:  # noqa: N802
            monitored.ended(str(event.runId))

    return MetricsListener()
