"""Where the numbers of queries go: Prometheus, OpenTelemetry and CloudWatch.

Prometheus and OpenTelemetry read the newest numbers when they want. CloudWatch extracts numbers
from lines of a log, in its embedded metric format.
"""

from __future__ import annotations

import json
import sys
import threading
from collections import defaultdict
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from typing import TYPE_CHECKING, Any

from spark_kinesis._errors import MissingPackageError

from ._samples import Kind, Sample

if TYPE_CHECKING:
    from opentelemetry.metrics import Meter
    from prometheus_client import CollectorRegistry
    from prometheus_client.core import Metric

# A line has at most 100 metrics: the specification of the embedded metric format.
MAX_METRICS = 100


class _NewestSamples:
    """Keeps the newest numbers of each run. Spark writes them, and other threads read them."""

    def __init__(self) -> None:
        """Has no runs."""
        self._lock = threading.Lock()
        self._runs: dict[str, Sequence[Sample]] = {}

    def update(self, run: str, samples: Sequence[Sample], time_ms: int) -> None:  # noqa: ARG002
        """Replace the numbers of a run."""
        with self._lock:
            self._runs[run] = samples

    def remove(self, run: str) -> None:
        """Forget the numbers of a run."""
        with self._lock:
            self._runs.pop(run, None)

    def samples(self) -> list[Sample]:
        """The numbers of all runs."""
        with self._lock:
            return [sample for each in self._runs.values() for sample in each]


class PrometheusMetrics(_NewestSamples):
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
        super().__init__()
        self._registry = registry or prometheus_client.REGISTRY
        self._server: tuple[Any, threading.Thread] | None = None
        if port is not None:  # first, so that the registry is unchanged if the port is not free
            self._server = prometheus_client.start_http_server(port, address, self._registry)
        self._registry.register(self)
        self._is_closed = False

    @property
    def port(self) -> int | None:
        """The port of the server. ``None`` without one."""
        return int(self._server[0].server_port) if self._server else None

    def close(self) -> None:
        """Stop the server, and remove the metrics from the registry. It may be closed already."""
        if self._is_closed:
            return
        self._is_closed = True
        if self._server:
            self._server[0].shutdown()
            self._server[0].server_close()
            self._server[1].join()
            self._server = None
        self._registry.unregister(self)

    def collect(self) -> Iterator[Metric]:
        """The numbers of all runs, as ``prometheus_client`` asks for them."""
        from prometheus_client.core import (  # noqa: PLC0415
            CounterMetricFamily,
            GaugeMetricFamily,
        )

        families: dict[str, Any] = {}
        for sample in self.samples():
            family = families.get(sample.name)
            if family is None:
                kind = CounterMetricFamily if sample.kind is Kind.COUNTER else GaugeMetricFamily
                text = f"See docs/reference/metrics.md: {sample.name}"
                family = kind(f"spark_kinesis_{sample.name}", text, labels=list(sample.labels))
                families[sample.name] = family
            family.add_metric(list(sample.labels.values()), sample.value)
        yield from families.values()


class OpenTelemetryMetrics(_NewestSamples):
    """An exporter for OpenTelemetry. The names begin with ``spark_kinesis.``."""

    def __init__(self, meter: Meter | None = None) -> None:
        """Use a meter.

        Args:
            meter: the meter; default: one of the global provider with the name ``spark_kinesis``.

        Raises:
            MissingPackageError: if ``opentelemetry-api`` is not installed.
        """
        try:
            from opentelemetry import metrics  # noqa: PLC0415 optional
        except ImportError as error:
            raise MissingPackageError(
                "OpenTelemetryMetrics needs opentelemetry-api: pip install opentelemetry-sdk"
            ) from error
        super().__init__()
        self._meter = meter or metrics.get_meter("spark_kinesis")
        self._known: set[str] = set()

    def update(self, run: str, samples: Sequence[Sample], time_ms: int) -> None:
        """Replace the numbers of a run."""
        super().update(run, samples, time_ms)
        for sample in samples:
            if sample.name not in self._known:
                self._known.add(sample.name)
                self._create(sample)

    def _create(self, sample: Sample) -> None:
        make = (
            self._meter.create_observable_counter
            if sample.kind is Kind.COUNTER
            else self._meter.create_observable_gauge
        )
        make(f"spark_kinesis.{sample.name}", callbacks=[self._observe(sample.name)])

    def _observe(self, name: str) -> Callable[[Any], Iterable[Any]]:
        from opentelemetry.metrics import Observation  # noqa: PLC0415

        def observe(_: Any) -> Iterable[Any]:
            found = [it for it in self.samples() if it.name == name]
            return [Observation(it.value, dict(it.labels)) for it in found]

        return observe


def _print(line: str) -> None:
    sys.stdout.write(line + "\n")
    sys.stdout.flush()


class EmbeddedMetrics:
    """An exporter for CloudWatch: lines of JSON for a log group.

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
            labels = tuple(sample.labels.items())
            value = sample.value
            if sample.kind is Kind.COUNTER:
                key = (sample.name, labels)
                value -= before.get(key, 0)
                before[key] = sample.value
            groups[labels][sample.name] = value
        for labels, numbers in groups.items():
            for part in _parts(numbers):
                self._write(self._line(dict(labels), part, time_ms))

    def remove(self, run: str) -> None:
        """Forget a run."""
        self._before.pop(run, None)

    def _line(self, labels: dict[str, str], numbers: Mapping[str, float], time_ms: int) -> str:
        metrics = [{"Name": name, "Unit": _unit(name)} for name in numbers]
        directive = {
            "Namespace": self._namespace,
            "Dimensions": [list(labels)],
            "Metrics": metrics,
        }
        line: dict[str, Any] = {"_aws": {"Timestamp": time_ms, "CloudWatchMetrics": [directive]}}
        return json.dumps({**line, **labels, **numbers}, separators=(",", ":"))


def _parts(numbers: Mapping[str, float]) -> Iterator[dict[str, float]]:
    items = list(numbers.items())
    for start in range(0, len(items), MAX_METRICS):
        yield dict(items[start : start + MAX_METRICS])


def _unit(name: str) -> str:
    words = name.split("_")
    if "ms" in words:
        return "Milliseconds"
    if words[-3:] == ["bytes", "per", "second"]:
        return "Bytes/Second"
    return "Bytes" if "bytes" in words else "None" if "share" in words else "Count"
