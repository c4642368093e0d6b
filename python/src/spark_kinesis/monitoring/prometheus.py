"""Prometheus reads the numbers from a port of the driver."""

from __future__ import annotations

import threading
from collections.abc import Iterator
from typing import TYPE_CHECKING, Any

from spark_kinesis._errors import MissingPackageError

from .newest import NewestSamples
from .samples import Kind

if TYPE_CHECKING:
    from prometheus_client import CollectorRegistry
    from prometheus_client.core import Metric

PREFIX = "spark_kinesis_"


class PrometheusMetrics(NewestSamples):
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
            address: address of that server; default: this machine only. ``"0.0.0.0"`` serves all
                who reach the driver, without a password.
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
        chosen = registry or prometheus_client.REGISTRY
        chosen.register(self)
        self._server: tuple[Any, threading.Thread] | None = None
        if port is not None:
            self._server = prometheus_client.start_http_server(port, address, chosen)
        self._registry = chosen

    @property
    def port(self) -> int | None:
        """The port of the server. ``None`` without one."""
        return int(self._server[0].server_port) if self._server else None

    def close(self) -> None:
        """Stop the server, and remove the metrics from the registry."""
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
                family = kind(PREFIX + sample.name, text, labels=list(sample.labels))
                families[sample.name] = family
            family.add_metric(list(sample.labels.values()), sample.value)
        yield from families.values()
