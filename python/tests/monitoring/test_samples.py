"""From progress to numbers."""

from __future__ import annotations

from pathlib import Path

import pytest

from python.tests.monitoring.progress import progress
from spark_kinesis.monitoring.samples import (
    SINK_COUNTERS,
    SOURCE_COUNTERS,
    Kind,
    RunTotals,
    Sample,
)

METRICS = Path(__file__).parents[3] / "docs" / "reference" / "metrics.md"


def test_numbers_of_a_source_have_its_labels() -> None:
    found = RunTotals().samples(
        progress(
            {
                "fetchedRecords": "12",
                "avgMsBehindLatest": "5",
                "msBehindLatest.orders/shardId-000000000001": "300",
                "maxMsBehindLatest.arn:aws:kinesis:eu-west-1:123456789012:stream/a": "7",
            }
        )
    )
    labels = {"query": "orders", "source": "0"}
    arn = "arn:aws:kinesis:eu-west-1:123456789012:stream/a"
    shard = {**labels, "stream": "orders", "shard": "shardId-000000000001"}
    assert found == [
        Sample(name="source_fetched_records", value=12, kind=Kind.COUNTER, labels=labels),
        Sample(name="source_avg_ms_behind_latest", value=5, kind=Kind.GAUGE, labels=labels),
        Sample(name="source_shard_ms_behind", value=300, kind=Kind.GAUGE, labels=shard),
        Sample(
            name="source_stream_max_ms_behind",
            value=7,
            kind=Kind.GAUGE,
            labels={**labels, "stream": arn},
        ),
    ]


def test_counters_of_a_sink_are_added_up() -> None:
    totals = RunTotals()
    for records, rate in (("10", "2.5"), ("0", "0.0"), ("5", "1.5")):
        metrics = {
            "recordsWritten": records,
            "recordsPerRequest": rate,
            "hottestShard": "orders/shardId-000000000001",
        }
        found = {it.name: it for it in totals.samples(progress(sink=metrics))}
    assert found["sink_records_written"].value == 15
    assert found["sink_records_written"].kind is Kind.COUNTER
    assert found["sink_records_per_request"].value == 1.5
    assert found["sink_records_per_request"].kind is Kind.GAUGE
    assert "sink_hottest_shard" not in found


def test_a_query_without_a_name_has_its_id() -> None:
    (found,) = RunTotals().samples(progress({"openShards": "1"}, name=None))
    assert found.labels["query"] == "0f7f"


def test_other_sources_and_sinks_have_no_numbers() -> None:
    assert RunTotals().samples(progress({"x": "1"}, description="KafkaV2[orders]")) == []


@pytest.mark.parametrize(
    ("counters", "section"),
    [(SOURCE_COUNTERS, "Progress of a source"), (SINK_COUNTERS, "Progress of a sink")],
)
def test_each_counter_is_a_metric(counters: frozenset[str], section: str) -> None:
    text = METRICS.read_text().split(f"## {section}\n")[1].split("\n## ")[0]
    documented = {name for name in counters if f"`{name}`" in text}
    assert counters - documented <= {"requests"}
