"""From progress to numbers."""

from __future__ import annotations

from pathlib import Path

import pytest

from python.tests.monitoring.progress import progress
from python.tests.monitoring.test_listener import Seen
from spark_kinesis.monitoring import SINK_COUNTERS, SOURCE_COUNTERS, Monitored, Run, Sample

METRICS = Path(__file__).parents[3] / "docs" / "reference" / "metrics.md"


def test_numbers_of_a_source_have_its_labels() -> None:
    run = Run("orders")
    run.progressed(
        progress(
            {
                "fetchedRecords": "12",
                "avgFetchLagMs": "5",
                "processingLagMs.orders/shardId-000000000001": "300",
                "maxProcessingLagMs.arn:aws:kinesis:eu-west-1:123456789012:stream/a": "7",
                "maxFetchLagMs.arn:aws:kinesis:eu-west-1:123456789012:stream/a": "3",
            }
        )
    )
    labels = {"query": "orders", "source": "0"}
    arn = "arn:aws:kinesis:eu-west-1:123456789012:stream/a"
    shard = {**labels, "stream": "orders", "shard": "shardId-000000000001"}
    assert run.samples() == [
        Sample(name="source_fetched_records", value=12, is_counter=True, labels=labels),
        Sample(name="source_avg_fetch_lag_ms", value=5, is_counter=False, labels=labels),
        Sample(name="source_shard_processing_lag_ms", value=300, is_counter=False, labels=shard),
        Sample(
            name="source_stream_max_processing_lag_ms",
            value=7,
            is_counter=False,
            labels={**labels, "stream": arn},
        ),
        Sample(
            name="source_stream_max_fetch_lag_ms",
            value=3,
            is_counter=False,
            labels={**labels, "stream": arn},
        ),
    ]


def test_counters_of_a_sink_are_added_up() -> None:
    run = Run("orders")
    for records, rate in (("10", "2.5"), ("0", "0.0"), ("5", "1.5")):
        metrics = {
            "recordsWritten": records,
            "recordsPerRequest": rate,
            "hottestShard": "orders/shardId-000000000001",
        }
        run.progressed(progress(sink=metrics))
    found = {it.name: it for it in run.samples()}
    assert found["sink_records_written"].value == 15
    assert found["sink_records_written"].is_counter
    assert found["sink_records_per_request"].value == 1.5
    assert not found["sink_records_per_request"].is_counter
    assert "sink_hottest_shard" not in found


def test_what_a_source_says_later_replaces_its_last_numbers() -> None:
    shard = "processingLagMs.orders/shardId-000000000001"
    seen = Seen()
    monitored = Monitored([seen], None)
    monitored.progressed(progress({"openShards": "1", shard: "5"}, sink={"recordsWritten": "10"}))
    monitored._answered("9a1b", {0: {shard: "9", "maxProcessingLagMs": "9"}})
    assert seen.values == {
        "source_open_shards": 1,
        "source_shard_processing_lag_ms": 9,
        "source_max_processing_lag_ms": 9,
        "sink_records_written": 10,
    }


def test_other_sources_and_sinks_have_no_numbers() -> None:
    run = Run("orders")
    run.progressed(progress({"x": "1"}, description="KafkaV2[orders]"))
    assert run.samples() == []


@pytest.mark.parametrize(
    ("counters", "section"),
    [(SOURCE_COUNTERS, "Progress of a source"), (SINK_COUNTERS, "Progress of a sink")],
)
def test_each_counter_is_a_metric(counters: frozenset[str], section: str) -> None:
    text = METRICS.read_text().split(f"## {section}\n")[1].split("\n## ")[0]
    documented = {name for name in counters if f"`{name}`" in text}
    assert counters - documented <= {"requests"}
