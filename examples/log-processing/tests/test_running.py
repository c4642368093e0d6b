"""How the job starts its two queries, and starts one again that failed. Without Spark."""

from __future__ import annotations

from dataclasses import replace
from datetime import timedelta
from types import SimpleNamespace
from typing import TYPE_CHECKING, Any

import pytest
from test_batches import SETTINGS

from log_processing.job import Heartbeats, keep_running, source

if TYPE_CHECKING:
    from collections.abc import Iterator


class Query:
    """A query that runs for some looks at it, and then fails or ends."""

    def __init__(self, looks: int, error: Exception | None = None) -> None:
        self.left, self.error = looks, error

    @property
    def isActive(self) -> bool:  # noqa: N802
        self.left -= 1
        return self.left >= 0

    def exception(self) -> Exception | None:
        return self.error


def test_a_query_that_fails_starts_again_and_the_other_one_is_left_alone() -> None:
    failed = ValueError("bus away")
    alerts: Iterator[Any] = iter([Query(1, failed), failed, Query(2, failed), Query(5)])
    store = Query(10**9)
    beats: list[str] = []
    started: list[str] = []

    def start_alerts() -> Any:
        started.append("alerts")
        query = next(alerts)
        if isinstance(query, Exception):
            raise query
        if query.error is None:
            store.left = 3  # SIGTERM ends both
        return query

    starts: dict[str, Any] = {"store": lambda: store}
    starts["alerts"] = start_alerts
    keep_running(starts, lambda name, _: beats.append(name), lambda: False, pause=0)
    assert started == ["alerts"] * 4
    assert beats.count("store") > 3


def test_a_planned_end_of_one_query_does_not_start_the_other_again() -> None:
    started: list[str] = []

    def start(name: str, query: Query) -> Any:
        started.append(name)
        return query

    starts = {
        "store": lambda: start("store", Query(0)),
        "alerts": lambda: start("alerts", Query(1, ValueError())),
    }
    keep_running(starts, lambda *_: None, lambda: False, pause=0)
    assert started == ["store", "alerts"]


@pytest.mark.parametrize(("is_over", "most"), [(True, 1), (False, 10)])
def test_a_query_that_cannot_start_again_ends_the_job(is_over: bool, most: int) -> None:
    tried: list[int] = []

    def start_alerts() -> Any:
        tried.append(len(tried))
        if len(tried) > 1:
            raise ValueError("Spark is stopped")
        return Query(1, ValueError())

    starts: dict[str, Any] = {"store": lambda: Query(10**9), "alerts": start_alerts}
    with pytest.raises(ValueError, match="Spark is stopped"):
        keep_running(starts, lambda *_: None, lambda: is_over, pause=0)
    assert len(tried) == 1 + most


def test_a_heartbeat_needs_progress(capsys: pytest.CaptureFixture[str]) -> None:
    query: Any = SimpleNamespace(lastProgress=None)
    heartbeats = Heartbeats("logs", seconds=0)
    heartbeats.beat("store", query)
    for time in ("10:00", "10:00", "10:01"):
        metrics = {"maxProcessingLagMs": "1500"}
        query.lastProgress = {"timestamp": time, "sources": [{"metrics": metrics}]}
        heartbeats.beat("store", query)
    lines = capsys.readouterr().out.splitlines()
    assert len(lines) == 2
    assert '"Query": "logs-store", "Heartbeat": 1, "AgeMs": 1500' in lines[0]


def test_each_query_has_slots_of_its_own() -> None:
    settings = replace(SETTINGS, max_mb_per_batch=40)
    store, alerts = (source(settings, query, 8) for query in ("store", "alerts"))
    assert (store.min_partitions, store.max_partitions) == (6, 6)
    assert (alerts.min_partitions, alerts.max_partitions) == (2, 2)
    assert store.max_bytes_per_trigger == alerts.max_bytes_per_trigger == 40_000_000
    polling = store.min_fetch_period, alerts.min_fetch_period
    assert sum(timedelta(seconds=1) / it for it in polling if it) == 5  # calls per shard
    with pytest.raises(ValueError, match="two task slots"):
        source(settings, "store", 1)
