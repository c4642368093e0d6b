"""The comparison of the trial: each kind of difference shows."""

from __future__ import annotations

import gzip
import json
from collections import Counter
from datetime import datetime, timezone
from typing import TYPE_CHECKING, Any

import pyarrow as pa
import pyarrow.parquet as pq
import pytest

from log_processing.demo.latency import percentiles, within
from log_processing.demo.ledger import Put, kept, put, stored_item
from log_processing.demo.processes import Process, below, is_java, python_workers
from log_processing.demo.verdict import compare
from spark_kinesis.local import Record

if TYPE_CHECKING:
    from pathlib import Path

BAD = ("shard", "3", 0)
PUT = Put(events=Counter(["a", "b"]), errors={"b"}, bad={BAD})
KEPT = Counter([BAD])


def record(data: bytes, number: int = 1) -> Record:
    return Record(
        shard_id="shard",
        sequence_number=str(number),
        partition_key="key",
        data=data,
        arrival=datetime.now(timezone.utc),
    )


def event(number: str, level: str = "INFO") -> dict[str, Any]:
    return {"timestamp": "now", "level": level, "context": {"request": number}}


def test_equal_ledgers_are_balanced_with_the_words_of_the_last_line() -> None:
    verdict = compare(PUT, ["a", "b"], ["b", "b"], KEPT)
    assert verdict.is_balanced
    assert str(verdict) == (
        "demo-logs: put=2 stored=2 missing=0 twice=0 errors=1 published>=1 bad=1 kept=1"
    )


@pytest.mark.parametrize(
    ("stored", "published", "kept_places", "field", "value"),
    [
        (["a"], ["b"], KEPT, "missing", 1),
        (["a", "b", "b"], ["b"], KEPT, "twice", 1),
        (["a", "b", "unknown"], ["b"], KEPT, "twice", 1),
        (["a", "b"], [], KEPT, "published", 0),
        (["a", "b"], ["a"], KEPT, "published", 0),
        (["a", "b"], ["b", "a"], KEPT, "strange", 1),
        (["a", "b"], ["b"], Counter(), "kept", 0),
        (["a", "b"], ["b"], KEPT + KEPT, "kept", 0),
        (["a", "b"], ["b"], KEPT + Counter([("shard", "4", 0)]), "strange", 1),
    ],
)
def test_each_difference_shows(
    stored: list[str],
    published: list[str],
    kept_places: Counter[tuple[str, str, int]],
    field: str,
    value: int,
) -> None:
    verdict = compare(PUT, stored, published, kept_places)
    assert getattr(verdict, field) == value
    assert not verdict.is_balanced


def test_a_loss_and_a_repeat_do_not_hide_each_other() -> None:
    verdict = compare(PUT, ["a", "a"], ["b"], KEPT)
    assert (verdict.put, verdict.stored, verdict.missing, verdict.twice) == (2, 2, 1, 1)


def test_an_event_that_a_generator_wrote_twice_is_expected_twice() -> None:
    ledger = put([record(json.dumps(event("a")).encode(), number) for number in range(2)])
    verdict = compare(ledger, ["a", "a"], [], Counter())
    assert verdict.is_balanced


def test_nothing_put_is_not_balanced() -> None:
    assert not compare(Put(), [], [], Counter()).is_balanced


def test_the_events_of_each_kind_of_record_are_recognized() -> None:
    entries = [
        {"id": "plain", "timestamp": 1, "message": "ERROR full"},
        {"id": "undated", "message": "INFO"},
        {"id": "outer", "timestamp": 1, "message": json.dumps(event("inner", "error"))},
    ]
    payload = gzip.compress(json.dumps({"logEvents": entries}).encode())
    undated = json.dumps({"timestamp": "yesterday", "level": "INFO"}).encode()
    records = [json.dumps(event("json")).encode(), undated, b"garbage", payload]
    ledger = put(record(data, number) for number, data in enumerate(records))
    assert set(ledger.events) == {"json", "plain", "inner"}
    assert ledger.errors == {"plain", "inner"}
    assert ledger.bad == {("shard", "1", 0), ("shard", "2", 0), ("shard", "3", 1)}


def test_kept_events_are_read_from_the_folders_of_all_batches(tmp_path: Path) -> None:
    places = {"shardId": ["shard"], "sequenceNumber": ["3"], "event": pa.array([0], pa.int32())}
    for batch in (1, 2):
        folder = tmp_path / "run=1" / f"batch={batch}"
        folder.mkdir(parents=True)
        pq.write_table(pa.table(places), folder / "part.parquet")
        (folder / "_SUCCESS").touch()
    assert kept(tmp_path) == Counter({BAD: 2})
    assert kept(tmp_path / "none") == Counter()


def test_the_times_of_an_item_are_from_arrival_until_it_was_stored() -> None:
    item = stored_item(
        {
            "arrival": {"N": "1000"},
            "storedAt": {"N": "1250"},
            "context": {"M": {"id": {"S": "a"}}},
            "timestamp": {"S": "now"},
            "service": {"S": "mail"},
            "message": {"S": "text"},
            "level": {"S": "Error"},
        }
    )
    assert (item.id, item.millis, item.is_error) == ("a", 250, True)
    assert within([item], [(900, 1000), (1000, 1001)]) == [250]
    assert within([item], [(900, 1000)]) == []


def test_percentiles_are_times_of_events() -> None:
    assert str(percentiles(range(1, 1001))) == "p50=0.50 s p99=0.99 s"
    assert str(percentiles([7000])) == "p50=7.00 s p99=7.00 s"
    assert str(percentiles([])) == "p50=0.00 s p99=0.00 s"


def test_workers_are_the_children_of_the_daemon_of_this_job() -> None:
    known = [
        Process(1, 0, "python -m log_processing.job"),
        Process(2, 1, "/opt/java/bin/java -cp pyspark"),
        Process(3, 2, "python -m pyspark.daemon"),
        Process(4, 3, "python -m pyspark.daemon"),
        Process(5, 0, "python -m pyspark.daemon"),
        Process(6, 5, "python -m pyspark.daemon"),
    ]
    found = below(1, {it.pid: it for it in known})
    assert [it.pid for it in found] == [2, 3, 4]
    assert [it.pid for it in found if is_java(it)] == [2]
    assert [it.pid for it in python_workers(found)] == [4]
