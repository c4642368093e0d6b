"""Metrics of a running query, as Prometheus, CloudWatch and the files of the example name them."""

from __future__ import annotations

import json
import re
import threading
from collections.abc import Iterator
from pathlib import Path
from typing import TYPE_CHECKING, Any

import pytest
from prometheus_client import CollectorRegistry, generate_latest

from spark_kinesis.monitoring import EmbeddedMetrics, PrometheusMetrics, monitor
from tests.e2e.support.streams import Stream, wait_for

if TYPE_CHECKING:
    from pyspark.sql import SparkSession

EXAMPLES = Path(__file__).resolve().parents[3] / "examples" / "monitoring"
ROWS = 40
NAME = re.compile(r"spark_kinesis_\w+")
LINE = re.compile(r"^(spark_\w+)(?:\{.*\})? (\S+)$", re.MULTILINE)


class Seen:
    """What the exporters have seen of a query that copies a stream."""

    def __init__(self) -> None:
        self.registry = CollectorRegistry()
        self.lines: list[str] = []

    def values(self) -> dict[str, float]:
        """The numbers of Prometheus, by name. Of shards, one."""
        text = generate_latest(self.registry).decode()
        return {match[1]: float(match[2]) for match in LINE.finditer(text)}


@pytest.fixture(scope="module")
def seen(
    spark: SparkSession, simulator: str, tmp_path_factory: pytest.TempPathFactory
) -> Iterator[Seen]:
    """A query that has copied all rows, and its metrics."""
    source, target = Stream(simulator, 2), Stream(simulator, 1)
    source.put(ROWS)
    found = Seen()
    prometheus = PrometheusMetrics(registry=found.registry)
    listener = monitor(spark, prometheus, EmbeddedMetrics(write=found.lines.append))
    rows = source.source().read_stream(spark).select("partitionKey", "data")
    writer = target.sink().write_stream(rows).queryName("copy")
    query = writer.option("checkpointLocation", str(tmp_path_factory.mktemp("copy"))).start()
    name = "spark_kinesis_sink_records_written_total"
    try:
        wait_for("metrics of all rows", lambda: found.values().get(name) == ROWS)
        yield found
    finally:
        query.stop()
        wait_for("no metrics", lambda: not found.values())
        spark.streams.removeListener(listener)
        prometheus.close()


def test_prometheus_sees_source_and_sink(seen: Seen) -> None:
    values = seen.values()
    assert values["spark_kinesis_source_fetched_records_total"] == ROWS
    assert values["spark_kinesis_source_open_shards"] == 2
    assert values["spark_kinesis_source_shard_processing_lag_ms"] == 0


def test_cloudwatch_sees_them_too(seen: Seen) -> None:
    lines: list[dict[str, Any]] = [json.loads(line) for line in seen.lines]
    written = sum(line.get("sink_records_written", 0) for line in lines)
    assert written == ROWS
    assert {line["query"] for line in lines} == {"copy"}


@pytest.mark.parametrize("file", ["prometheus-rules.yml", "grafana-dashboard.json"])
def test_the_names_of_the_example_are_those_of_the_query(file: str, seen: Seen) -> None:
    used = set(NAME.findall((EXAMPLES / file).read_text()))
    assert used
    assert used <= set(seen.values())


def test_the_alarms_for_cloudwatch_use_the_same_names(seen: Seen) -> None:
    used = set(re.findall(r"MetricName: (\w+)", (EXAMPLES / "cloudwatch-alarms.yml").read_text()))
    sent = {name for line in seen.lines for name in json.loads(line)}
    assert used
    assert used <= sent


def test_the_dashboard_is_complete() -> None:
    dashboard = json.loads((EXAMPLES / "grafana-dashboard.json").read_text())
    panels = dashboard["panels"]
    assert len({panel["id"] for panel in panels}) == len(panels)
    assert all(panel["description"] and panel["targets"] for panel in panels)
    variables = {it["name"] for it in dashboard["templating"]["list"]}
    assert set(re.findall(r"\$\{?(datasource|query)\}?", json.dumps(panels))) == variables


def test_a_slow_sink_does_not_hide_how_late_the_query_is(
    spark: SparkSession, simulator: str, tmp_path: Path
) -> None:
    stream, seen, over = Stream(simulator, 1), Seen(), threading.Event()
    stream.put(1)
    prometheus = PrometheusMetrics(registry=seen.registry)
    listener = monitor(spark, prometheus)

    def wait(_batch: object, _number: int) -> None:
        over.wait(120)

    writer = stream.source().read_stream(spark).writeStream.queryName("slow").foreachBatch(wait)
    query = writer.option("checkpointLocation", str(tmp_path)).start()
    name = "spark_kinesis_source_max_processing_lag_ms"
    try:
        wait_for("a lag during the first batch", lambda: seen.values().get(name, 0) > 5000)
        assert query.lastProgress is None
    finally:
        over.set()
        query.stop()
        spark.streams.removeListener(listener)
        prometheus.close()
