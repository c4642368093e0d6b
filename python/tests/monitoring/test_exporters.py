"""Where the numbers go."""

from __future__ import annotations

import json
import urllib.request
from collections.abc import Iterator
from typing import Any

import pytest
from opentelemetry.sdk.metrics import MeterProvider
from opentelemetry.sdk.metrics.export import InMemoryMetricReader, NumberDataPoint
from prometheus_client import CollectorRegistry, generate_latest

from python.tests.monitoring.progress import progress
from spark_kinesis.monitoring import (
    EmbeddedMetrics,
    OpenTelemetryMetrics,
    PrometheusMetrics,
    Sample,
    monitor,
)
from spark_kinesis.monitoring._exporters import MAX_METRICS
from spark_kinesis.monitoring._samples import RunTotals

SHARD = "processingLagMs.orders/shardId-000000000001"
SOURCE = {"fetchedRecords": "12", "maxProcessingLagMs": "300", SHARD: "300"}


def samples(**changes: str) -> list[Sample]:
    return RunTotals("orders").samples(progress({**SOURCE, **changes}))


@pytest.fixture
def registry() -> CollectorRegistry:
    return CollectorRegistry()


@pytest.fixture
def prometheus(registry: CollectorRegistry) -> Iterator[PrometheusMetrics]:
    exporter = PrometheusMetrics(port=0, address="127.0.0.1", registry=registry)
    yield exporter
    exporter.close()


def test_prometheus_has_the_newest_numbers_of_each_run(
    prometheus: PrometheusMetrics, registry: CollectorRegistry
) -> None:
    prometheus.update("run 1", samples(), 0)
    prometheus.update("run 1", samples(fetchedRecords="13"), 0)
    lines = generate_latest(registry).decode().splitlines()
    assert 'spark_kinesis_source_fetched_records_total{query="orders",source="0"} 13.0' in lines
    assert "# TYPE spark_kinesis_source_max_processing_lag_ms gauge" in lines
    shard = 'shard="shardId-000000000001",source="0",stream="orders"'
    assert any(shard in line and line.endswith(" 300.0") for line in lines)
    prometheus.remove("run 1")
    assert not generate_latest(registry)


def test_prometheus_reads_them_over_http(prometheus: PrometheusMetrics) -> None:
    prometheus.update("run 1", samples(), 0)
    assert prometheus.port is not None
    with urllib.request.urlopen(f"http://127.0.0.1:{prometheus.port}/metrics") as answer:
        assert b"spark_kinesis_source_fetched_records_total" in answer.read()


def test_a_closed_exporter_leaves_its_registry(registry: CollectorRegistry) -> None:
    exporter = PrometheusMetrics(registry=registry)
    assert exporter.port is None
    exporter.close()
    other = PrometheusMetrics(registry=registry)
    exporter.close()  # again
    assert list(registry.collect()) == list(other.collect())
    other.close()


def test_after_a_port_that_is_not_free_another_one_may_be_chosen(
    prometheus: PrometheusMetrics,
) -> None:
    other = CollectorRegistry()
    with pytest.raises(OSError, match="in use"):
        PrometheusMetrics(port=prometheus.port, registry=other)
    assert not list(other.collect())
    exporter = PrometheusMetrics(port=0, registry=other)
    exporter.update("run 1", samples(), 0)
    text = generate_latest(other).decode()
    assert text.count("spark_kinesis_source_fetched_records_total{") == 1
    exporter.close()


def test_prometheus_listens_on_this_machine_only_unless_told_otherwise(
    registry: CollectorRegistry,
) -> None:
    exporter = PrometheusMetrics(port=0, registry=registry)
    assert exporter._server is not None
    assert exporter._server[0].server_address[0] == "127.0.0.1"
    exporter.close()


def test_cloudwatch_receives_the_increase_of_counters() -> None:
    lines: list[str] = []
    exporter = EmbeddedMetrics(write=lines.append)
    for records in ("12", "20"):
        exporter.update("run", samples(fetchedRecords=records), 1_764_000_000_000)
    first, second = map(json.loads, lines)
    assert first["source_fetched_records"] == 12
    assert second["source_fetched_records"] == 8
    assert second["source_max_processing_lag_ms"] == 300
    (directive,) = first["_aws"]["CloudWatchMetrics"]
    assert first["_aws"]["Timestamp"] == 1_764_000_000_000
    assert directive["Namespace"] == "SparkKinesis"
    assert directive["Dimensions"] == [["query", "source"]]
    assert {"Name": "source_max_processing_lag_ms", "Unit": "Milliseconds"} in directive["Metrics"]
    assert {it["Name"] for it in directive["Metrics"]} <= set(first)


def test_cloudwatch_receives_shards_if_asked() -> None:
    lines: list[str] = []
    EmbeddedMetrics(per_shard=True, write=lines.append).update("run", samples(), 0)
    _, shard = map(json.loads, lines)
    assert shard["shard"] == "shardId-000000000001"
    assert shard["source_shard_processing_lag_ms"] == 300


def test_a_run_that_begins_again_counts_from_zero() -> None:
    lines: list[str] = []
    exporter = EmbeddedMetrics(write=lines.append)
    exporter.update("run", samples(), 0)
    exporter.remove("run")
    exporter.update("run", samples(), 0)
    assert [json.loads(line)["source_fetched_records"] for line in lines] == [12, 12]


def test_a_line_for_cloudwatch_has_no_more_metrics_than_allowed() -> None:
    lines: list[str] = []
    many = {f"odd{number}": "1" for number in range(MAX_METRICS + 5)}
    EmbeddedMetrics(write=lines.append).update(
        "run", RunTotals("orders").samples(progress(many)), 0
    )
    counts = [len(json.loads(it)["_aws"]["CloudWatchMetrics"][0]["Metrics"]) for it in lines]
    assert counts == [MAX_METRICS, 5]


def test_opentelemetry_reads_the_newest_numbers() -> None:
    reader = InMemoryMetricReader()
    provider = MeterProvider(metric_readers=[reader])
    exporter = OpenTelemetryMetrics(provider.get_meter("test"))
    exporter.update("run", samples(), 0)
    exporter.update("run", samples(fetchedRecords="14"), 0)
    found = points(reader)
    assert found["spark_kinesis.source_fetched_records"] == [
        (14, {"query": "orders", "source": "0"})
    ]
    assert (
        found["spark_kinesis.source_shard_processing_lag_ms"][0][1]["shard"]
        == "shardId-000000000001"
    )
    exporter.remove("run")
    assert not any(points(reader).values())
    provider.shutdown()


def points(reader: InMemoryMetricReader) -> dict[str, list[tuple[float, dict[str, Any]]]]:
    data = reader.get_metrics_data()
    if data is None:
        return {}
    return {
        metric.name: [
            (it.value, dict(it.attributes or {}))
            for it in metric.data.data_points
            if isinstance(it, NumberDataPoint)
        ]
        for resource in data.resource_metrics
        for scope in resource.scope_metrics
        for metric in scope.metrics
    }


def test_a_monitor_without_an_exporter_is_refused() -> None:
    with pytest.raises(ValueError, match="name at least one exporter"):
        monitor(None)  # type: ignore[arg-type]
