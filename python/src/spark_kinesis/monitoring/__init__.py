"""Sends the metrics of queries to Prometheus, CloudWatch or OpenTelemetry.

``docs/how-to/monitoring.md`` describes it.
"""

from __future__ import annotations

from .cloudwatch import EmbeddedMetrics
from .listener import Exporter, monitor
from .opentelemetry import OpenTelemetryMetrics
from .prometheus import PrometheusMetrics
from .samples import Kind, Sample

__all__ = [
    "EmbeddedMetrics",
    "Exporter",
    "Kind",
    "OpenTelemetryMetrics",
    "PrometheusMetrics",
    "Sample",
    "monitor",
]
