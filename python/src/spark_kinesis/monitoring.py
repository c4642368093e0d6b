"""Sends the metrics of queries to Prometheus or CloudWatch.

``docs/how-to/monitoring.md`` describes it.
"""

from __future__ import annotations

import json
import re
import sys
import threading
import time
from collections import defaultdict
from collections.abc import Callable, Iterator, Mapping, Sequence
from contextlib import suppress
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any, Protocol

from spark_kinesis._errors import MissingPackageError
from spark_kinesis._times import from_iso, to_millis, utc_now

if TYPE_CHECKING:
    from prometheus_client import CollectorRegistry
    from prometheus_client.core import Metric
    from pyspark.sql import SparkSession
    from pyspark.sql.streaming.listener import StreamingQueryListener

__all__ = ["EmbeddedMetrics", "Exporter", "PrometheusMetrics", "Sample", "monitor"]

LIVE_SECONDS = 10.0
# Counters of the source since the run began. All other numbers of the source are gauges.
SOURCE_COUNTERS = frozenset(
    {
        "closedShards",
        "expiredIterators",
        "fallbackResponses",
        "failedShardListings",
        "fetchedBytes",
        "fetchedRecords",
        "lostRanges",
        "pushedBytes",
        "recordsBeforePosition",
        "requests",
        "rereadRanges",
        "retriedRequests",
        "subscriptionRenewals",
        "subscriptions",
        "subscriptionsInUse",
        "throttledRequests",
    }
)
# Counters of the sink in one micro-batch. They are added up.
SINK_COUNTERS = frozenset(
    {
        "bytesWritten",
        "deadLetters",
        "failedRecords",
        "failedRequests",
        "fallbackResponses",
        "kinesisBytesWritten",
        "kinesisRecordsWritten",
        "misplacedAggregates",
        "recordsWritten",
        "requests",
        "retriedRecords",
        "sentRecords",
        "throttledRecords",
        "unansweredRequests",
    }
)
# Metrics with the name of a stream or of a shard, which becomes a label.
_PLACES = (
    (re.compile(r"processingLagMs\.(?P<stream>[^/]+)/(?P<shard>.+)"), "shard_processing_lag_ms"),
    (re.compile(r"maxProcessingLagMs\.(?P<stream>.+)"), "stream_max_processing_lag_ms"),
    (re.compile(r"maxFetchLagMs\.(?P<stream>.+)"), "stream_max_fetch_lag_ms"),
)
_NUMBER = re.compile(r"-?\d+(\.\d+)?")
_Ask = Callable[[str], Mapping[int, Mapping[str, str]]]


@dataclass(frozen=True, kw_only=True)
class Sample:
    """A number of a query."""

    name: str  # in lower case with underscores, such as ``source_fetched_records``
    value: float
    is_counter: bool  # whether it begins at 0 when the query starts and only grows
    # ``query``, in a source also ``source``, and for a shard ``stream`` and ``shard``.
    labels: Mapping[str, str]


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
    is_connect = "connect" in type(spark).__module__  # its client has no JVM to ask
    listener = _listener(Monitored(exporters, None if is_connect else _asks_jvm(spark)))
    spark.streams.addListener(listener)
    return listener


def _asks_jvm(spark: SparkSession) -> _Ask:
    jvm: Any = spark.sparkContext._jvm  # noqa: SLF001
    metrics = jvm.sparkkinesis.spark.metrics
    return lambda run: {
        int(number): dict(it) for number, it in metrics.LiveSources.metrics(run).items()
    }


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


class Monitored:
    """The runs of queries, and the exporters of their numbers. Safe for many threads."""

    def __init__(
        self, exporters: Sequence[Exporter], ask: _Ask | None, pause: float = LIVE_SECONDS
    ) -> None:
        """Know no run. ``ask`` returns the metrics of each source of a run as they are now."""
        self._exporters, self._ask, self._pause = exporters, ask, pause
        self._lock = threading.Lock()
        self._runs: dict[str, Run] = {}
        self._is_asking = False

    def started(self, run: str, query: str) -> None:
        """A query has started."""
        with self._lock:
            self._known(run, query)

    def _known(self, run: str, query: str) -> Run:
        if self._ask and not self._is_asking:
            self._is_asking = True
            threading.Thread(
                target=self._ask_all, name="spark-kinesis-monitor", daemon=True
            ).start()
        return self._runs.setdefault(run, Run(query))

    def progressed(self, progress: Mapping[str, Any]) -> None:
        """Spark has reported a progress."""
        run = str(progress["runId"])
        with self._lock:
            known = self._known(run, str(progress.get("name") or progress["id"]))
            known.progressed(progress)
            self._send(run, to_millis(from_iso(progress["timestamp"])))

    def ended(self, run: str) -> None:
        """A query has ended."""
        with self._lock:
            if self._runs.pop(run, None):
                for exporter in self._exporters:
                    exporter.remove(run)

    def _send(self, run: str, time_ms: int) -> None:
        samples = self._runs[run].samples()
        if samples:
            for exporter in self._exporters:
                exporter.update(run, samples, time_ms)

    def _ask_all(self) -> None:
        """Ask about each run, until there is none."""
        while True:
            time.sleep(self._pause)
            with self._lock:
                runs = list(self._runs)
                self._is_asking = bool(runs)
            if not runs:
                return
            for run in runs:
                with suppress(Exception):  # The JVM ends, or the jar is not in the session.
                    self._answered(run, self._ask(run) if self._ask else {})

    def _answered(self, run: str, sources: Mapping[int, Mapping[str, str]]) -> None:
        with self._lock:
            if sources and run in self._runs:
                for number, metrics in sources.items():
                    self._runs[run].sources.setdefault(number, {}).update(metrics)
                self._send(run, to_millis(utc_now()))


class Run:
    """The newest metrics of one run of a query."""

    def __init__(self, query: str) -> None:
        """No metrics yet. ``query`` is the name of the query."""
        self._query = query
        self.sources: dict[int, dict[str, str]] = {}  # metrics of each, by its number
        self._sink: dict[str, float] = {}

    def progressed(self, progress: Mapping[str, Any]) -> None:
        """Take the metrics of a progress: the JSON of Spark's ``StreamingQueryProgress``."""
        for number, source in enumerate(progress.get("sources") or ()):
            if str(source.get("description")).startswith("Kinesis["):
                self.sources[number] = dict(source.get("metrics") or {})
        sink = progress.get("sink") or {}
        if sink.get("description") == "kinesis":
            # A sink reports each micro-batch on its own, and zeros while there is no new data.
            for name, value in _numbers(sink.get("metrics") or {}):
                before = self._sink.get(name, 0.0) if name in SINK_COUNTERS else 0.0
                self._sink[name] = before + value

    def samples(self) -> list[Sample]:
        """The numbers. Empty for a query without a source or a sink of this connector."""
        query = {"query": self._query}
        found = [
            _of_source(name, value, {**query, "source": str(number)})
            for number, metrics in self.sources.items()
            for name, value in _numbers(metrics)
        ]
        return found + [
            Sample(
                name=_name("sink", name),
                value=value,
                is_counter=name in SINK_COUNTERS,
                labels=query,
            )
            for name, value in self._sink.items()
        ]


def _of_source(name: str, value: float, labels: Mapping[str, str]) -> Sample:
    for pattern, plain in _PLACES:
        match = pattern.fullmatch(name)
        if match:
            place = {**labels, **match.groupdict()}
            return Sample(name=f"source_{plain}", value=value, is_counter=False, labels=place)
    is_counter = name in SOURCE_COUNTERS
    return Sample(name=_name("source", name), value=value, is_counter=is_counter, labels=labels)


def _numbers(metrics: Mapping[str, str]) -> Iterator[tuple[str, float]]:
    """The metrics that are numbers. The name of the hottest shard is not, for example."""
    for name, text in metrics.items():
        if _NUMBER.fullmatch(text):
            yield name, float(text)


def _name(side: str, name: str) -> str:
    return f"{side}_{re.sub('([A-Z])', lambda found: '_' + found[1].lower(), name)}"


class PrometheusMetrics:
    """An exporter for Prometheus. The names begin with ``spark_kinesis_``.

    A counter also ends with ``_total``, as Prometheus wants it.
    """

    def __init__(
        self,
        *,
        port: int | None = None,
        address: str = "127.0.0.1",
        registry: CollectorRegistry | None = None,
    ) -> None:
        """Register the metrics, and serve them if there is a port.

        Args:
            port: port of an HTTP server on the driver, such as 9404. ``None`` starts no server.
            address: address of that server; default: this machine only. With ``"0.0.0.0"``, any
                machine that can reach the driver reads the metrics without a password.
            registry: registry of ``prometheus_client``; default: its own.

        Raises:
            MissingPackageError: if ``prometheus_client`` is not installed.
            OSError: if the port is not free.
        """
        try:
            import prometheus_client  # noqa: PLC0415 optional
        except ImportError as error:
            raise MissingPackageError(
                "PrometheusMetrics needs prometheus-client: pip install prometheus-client"
            ) from error
        self._runs: dict[str, Sequence[Sample]] = {}
        self._registry = registry or prometheus_client.REGISTRY
        self._server: tuple[Any, threading.Thread] | None = None
        if port is not None:  # first, so that the registry is unchanged if the port is not free
            self._server = prometheus_client.start_http_server(port, address, self._registry)
        self._registry.register(self)

    def update(self, run: str, samples: Sequence[Sample], time_ms: int) -> None:  # noqa: ARG002
        """Replace the numbers of a run."""
        self._runs[run] = samples

    def remove(self, run: str) -> None:
        """Forget the numbers of a run."""
        self._runs.pop(run, None)

    def collect(self) -> Iterator[Metric]:
        """The numbers of all runs, as ``prometheus_client`` asks for them, in its own thread."""
        from prometheus_client import core  # noqa: PLC0415 optional

        families: dict[str, Any] = {}
        for sample in (it for each in list(self._runs.values()) for it in each):
            if sample.name not in families:
                kind = core.CounterMetricFamily if sample.is_counter else core.GaugeMetricFamily
                text = f"See docs/reference/metrics.md: {sample.name}"
                families[sample.name] = kind(
                    f"spark_kinesis_{sample.name}", text, labels=list(sample.labels)
                )
            families[sample.name].add_metric(list(sample.labels.values()), sample.value)
        yield from families.values()

    def close(self) -> None:
        """Stop the server, and remove the metrics from the registry. It may be closed already."""
        if self._server:
            server, thread = self._server
            server.shutdown()
            server.server_close()
            thread.join()
            self._server = None
        with suppress(KeyError):
            self._registry.unregister(self)


def _print(line: str) -> None:
    sys.stdout.write(line + "\n")
    sys.stdout.flush()


class EmbeddedMetrics:
    """An exporter for CloudWatch: lines of JSON for a log group, in its embedded metric format.

    A line costs nothing more than a line of the log, but each metric that CloudWatch makes of it
    has a price per month. Metrics per shard are off by default.

    Counters are sent as their increase since the last line, because CloudWatch adds up.
    """

    def __init__(
        self,
        *,
        namespace: str = "SparkKinesis",
        per_shard: bool = False,
        write: Callable[[str], None] = _print,
    ) -> None:
        """Write nothing yet.

        Args:
            namespace: namespace in CloudWatch.
            per_shard: whether to send the lag of each shard, too.
            write: takes a line. Default: to standard output, which EMR and Kubernetes send to
                CloudWatch Logs.
        """
        self._namespace, self._per_shard, self._write = namespace, per_shard, write
        self._before: dict[str, dict[tuple[object, ...], float]] = {}

    def update(self, run: str, samples: Sequence[Sample], time_ms: int) -> None:
        """Write lines with the numbers of a run."""
        before = self._before.setdefault(run, {})
        groups: dict[tuple[tuple[str, str], ...], dict[str, float]] = defaultdict(dict)
        for sample in samples:
            if "shard" in sample.labels and not self._per_shard:
                continue
            labels, value = tuple(sample.labels.items()), sample.value
            if sample.is_counter:
                value -= before.get((sample.name, labels), 0)
                before[sample.name, labels] = sample.value
            groups[labels][sample.name] = value
        for labels, numbers in groups.items():
            self._write(self._line(dict(labels), numbers, time_ms))

    def remove(self, run: str) -> None:
        """Forget a run."""
        self._before.pop(run, None)

    def _line(self, labels: dict[str, str], numbers: Mapping[str, float], time_ms: int) -> str:
        directive = {
            "Namespace": self._namespace,
            "Dimensions": [list(labels)],
            "Metrics": [{"Name": name} for name in numbers],
        }
        line: dict[str, Any] = {"_aws": {"Timestamp": time_ms, "CloudWatchMetrics": [directive]}}
        return json.dumps({**line, **labels, **numbers}, separators=(",", ":"))
