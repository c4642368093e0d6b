"""Listens to the progress of all queries of a session."""

from __future__ import annotations

import json
from collections.abc import Sequence
from typing import TYPE_CHECKING, Any, Protocol

from spark_kinesis._times import from_iso, to_millis

from .samples import RunTotals, Sample

if TYPE_CHECKING:
    from pyspark.sql import SparkSession
    from pyspark.sql.streaming.listener import StreamingQueryListener


class Exporter(Protocol):
    """Passes numbers on. Spark calls it from one thread, and waits for it: it must not block."""

    def update(self, run: str, samples: Sequence[Sample], time_ms: int) -> None:
        """A query has made progress.

        Args:
            run: ID of its run.
            samples: its numbers, which replace those of its last progress.
            time_ms: time of the progress, in milliseconds since 1970.
        """

    def remove(self, run: str) -> None:
        """A query has ended."""


def monitor(spark: SparkSession, *exporters: Exporter) -> StreamingQueryListener:
    """Send the metrics of all queries of a session that read or write Kinesis.

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
    listener = _listener(exporters)
    spark.streams.addListener(listener)
    return listener


def _listener(exporters: Sequence[Exporter]) -> StreamingQueryListener:
    # The class is made here, because its base needs pyspark, and this package may not.
    from pyspark.sql.streaming.listener import StreamingQueryListener  # noqa: PLC0415

    class MetricsListener(StreamingQueryListener):
        def __init__(self) -> None:
            self._runs: dict[str, RunTotals] = {}

        def onQueryStarted(self, event: Any) -> None:  # noqa: N802 Spark's name
            pass

        def onQueryProgress(self, event: Any) -> None:  # noqa: N802
            progress = json.loads(event.progress.json)
            run = str(progress["runId"])
            samples = self._runs.setdefault(run, RunTotals()).samples(progress)
            if samples:
                time_ms = to_millis(from_iso(progress["timestamp"]))
                for exporter in exporters:
                    exporter.update(run, samples, time_ms)

        def onQueryIdle(self, event: Any) -> None:  # noqa: N802
            pass

        def onQueryTerminated(self, event: Any) -> None:  # noqa: N802
            run = str(event.runId)
            if self._runs.pop(run, None) is not None:
                for exporter in exporters:
                    exporter.remove(run)

    return MetricsListener()
