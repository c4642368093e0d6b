"""What a task does, without Spark: all is stored, published or kept, and counted."""

from __future__ import annotations

import json
from typing import TYPE_CHECKING, Any

import pyarrow as pa
from made import ARRIVAL_MS, fields, record
from test_table import Bus, Table

from log_processing import batches
from log_processing.progress import Counts, age_ms, counts_of, print_metrics
from log_processing.settings import Settings

if TYPE_CHECKING:
    import pytest

    from log_processing.events import Record

SETTINGS = Settings("logs", "logs", "alerts", "checkpoint", "bad")
RECORDS = [
    record(fields(), 1, ARRIVAL_MS - 500),
    record(fields(level="ERROR", message="disk full"), 2),
    record(fields(level="FATAL", timestamp=0), 3),
    record(fields(message="bad"), 4),
    record(b"no JSON", 5),
    record(fields(message="x" * 400 * 1024), 6),
]


def arrow(records: list[Record]) -> list[pa.RecordBatch]:
    """Records as Spark hands them to a task, two at a time."""
    columns = list(zip(*(vars(it).values() for it in records), strict=True))
    whole = pa.RecordBatch.from_arrays([pa.array(it) for it in columns], list(vars(records[0])))
    return [whole.slice(first, 2) for first in range(0, len(records), 2)]


def run(query: str, service: Any, monkeypatch: pytest.MonkeyPatch) -> tuple[Counts, list[Any]]:
    """Run a task. Returns its counts and its bad rows."""
    monkeypatch.setattr(batches, "client", lambda *_: service)
    monkeypatch.setattr("log_processing.sending.random.uniform", lambda *_: 0)
    found = list(batches.run_task(query, SETTINGS, iter(arrow(RECORDS))))
    *bad, last = [row for batch in found for row in batch.to_pylist()]
    return counts_of(last["counts"]), bad


def test_a_task_stores_events_and_returns_the_others(monkeypatch: pytest.MonkeyPatch) -> None:
    table = Table()
    counts, bad = run("store", table, monkeypatch)
    assert (counts.records, counts.done, counts.bad) == (6, 2, 4)
    assert {it["message"]["S"] for it in table.items.values()} == {"m", "disk full"}
    assert {(it["sequenceNumber"], it["reason"]) for it in bad} == {
        ("49663", "expired"),
        ("49664", "refused by DynamoDB"),
        ("49665", "unparsable"),
        ("49666", "too large"),
    }
    assert {it["data"] for it in bad} == {it.data for it in RECORDS[2:]}
    assert counts.levels == {"INFO": 1, "ERROR": 1}
    assert [it[2] for it in counts.errors] == ["disk full"]
    assert counts.bytes == sum(len(it.data) for it in RECORDS)
    assert age_ms(counts, ARRIVAL_MS) == 500


def test_a_task_publishes_each_severe_event_even_if_it_cannot_be_stored(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    bus = Bus("MalformedDetail")
    counts, bad = run("alerts", bus, monkeypatch)
    assert (counts.records, counts.done, counts.bad) == (6, 1, 1)
    assert [it["level"] for it in bus.published] == ["FATAL"]
    assert [(it["sequenceNumber"], it["reason"]) for it in bad] == [("49662", "alert refused")]


def test_many_bad_events_do_not_stay_in_memory(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(batches, "client", lambda *_: Table())
    many = arrow([record(b"", number) for number in range(2500)])
    found = [batch.num_rows for batch in batches.run_task("store", SETTINGS, iter(many))]
    assert found == [1000, 1000, 501]


def test_counts_of_tasks_are_added() -> None:
    total = Counts()
    for oldest, waits in ((0, []), (70, [95, 1234]), (50, [7, 12_345])):
        total.add(counts_of(Counts(oldest=oldest, done=len(waits)).to_json()))
        total.latency.update(str(it) for it in waits)
    assert (total.oldest, total.done) == (50, 4)
    assert (total.percentile(0.25), total.percentile(0.5), total.percentile(1)) == (7, 95, 12_345)
    assert age_ms(Counts(), 1) == 0


def test_a_metric_is_a_line_that_cloudwatch_reads(capsys: pytest.CaptureFixture[str]) -> None:
    print_metrics("logs-store", Bad=3, AgeMs=1200)
    line = json.loads(capsys.readouterr().out)
    assert (line["Query"], line["Bad"], line["AgeMs"]) == ("logs-store", 3, 1200)
    assert line["_aws"]["CloudWatchMetrics"] == [
        {
            "Namespace": "LogProcessing",
            "Dimensions": [["Query"]],
            "Metrics": [
                {"Name": "Bad", "Unit": "Count"},
                {"Name": "AgeMs", "Unit": "Milliseconds"},
            ],
        }
    ]
