"""Where the numbers go."""

from __future__ import annotations

import json
import urllib.request
from collections.abc import Iterator

import pytest
from prometheus_client import CollectorRegistry, generate_latest

from python.tests.monitoring.progress import progress
from spark_kinesis.monitoring import (
    EmbeddedMetrics,
    PrometheusMetrics,
    Run,
    Sample,
    monitor,
)

SHARD = "processingLagMs.orders/shardId-000000000001"
SOURCE = {"fetchedRecords": "12", "maxProcessingLagMs": "300", SHARD: "300"}


def samples(**changes: str) -> list[Sample]:
    run = Run("orders")
    run.progressed(progress({**SOURCE, **changes}))
    return run.samples()


def port_of(exporter: PrometheusMetrics) -> int:
    assert exporter._server is not None
    return int(exporter._server[0].server_port)


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
    with urllib.request.urlopen(f"http://127.0.0.1:{port_of(prometheus)}/metrics") as answer:
        assert b"spark_kinesis_source_fetched_records_total" in answer.read()


def test_a_closed_exporter_leaves_its_registry(registry: CollectorRegistry) -> None:
    exporter = PrometheusMetrics(registry=registry)
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
        PrometheusMetrics(port=port_of(prometheus), registry=other)
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
    assert {"Name": "source_max_processing_lag_ms"} in directive["Metrics"]
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


def test_a_monitor_without_an_exporter_is_refused() -> None:
    with pytest.raises(ValueError, match="name at least one exporter"):
        monitor(None)  # type: ignore[arg-type]
