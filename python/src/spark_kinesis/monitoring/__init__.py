"""Sends the metrics of queries to Prometheus, CloudWatch or OpenTelemetry.

``docs/how-to/monitoring.md`` describes it.
"""

from __future__ import annotations

from ._exporters import EmbeddedMetrics, OpenTelemetryMetrics, PrometheusMetrics
from ._listener import Exporter, monitor
from ._samples import Kind, Sample

__all__ = [
    "EmbeddedMetrics",
    "Exporter",
    "Kind",
    "OpenTelemetryMetrics",
    "PrometheusMetrics",
    "Sample",
    "monitor",
]
