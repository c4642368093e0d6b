"""What exporters see of the runs of queries."""

from __future__ import annotations

import threading
from typing import TYPE_CHECKING

from python.tests.monitoring.progress import progress
from spark_kinesis.monitoring import Monitored

if TYPE_CHECKING:
    from collections.abc import Sequence

    from spark_kinesis.monitoring import Sample

LAG = "source_max_processing_lag_ms"
RUN = "9a1b"


class Seen:
    """An exporter that keeps the newest numbers."""

    def __init__(self) -> None:
        self.values: dict[str, float] = {}
        self.queries: set[str] = set()
        self.news = threading.Event()

    def update(self, run: str, samples: Sequence[Sample], time_ms: int) -> None:
        assert run == RUN
        assert time_ms > 0
        self.values = {it.name: it.value for it in samples}
        self.queries |= {it.labels["query"] for it in samples}
        self.news.set()

    def remove(self, run: str) -> None:
        assert run == RUN
        self.values = {}


def test_a_query_without_a_name_has_its_id() -> None:
    seen = Seen()
    Monitored([seen], ask=None).progressed(progress({"openShards": "1"}, name=None))
    assert seen.queries == {"0f7f"}


def test_a_slow_micro_batch_without_progress_does_not_hide_the_lag() -> None:
    seen, lags = Seen(), iter(range(1000, 10**9, 1000))
    live = {RUN: lambda: {0: {"maxProcessingLagMs": str(next(lags))}}}
    monitored = Monitored([seen], lambda run: live[run](), pause=0.01)
    monitored.started(RUN, "orders")
    for _ in range(3):
        seen.news.clear()
        before = seen.values.get(LAG, 0)
        assert seen.news.wait(10)
        assert seen.values[LAG] > before
    monitored.ended(RUN)
    assert seen.values == {}


def test_the_thread_ends_with_the_last_query_and_begins_again_with_the_next_one() -> None:
    def asking() -> list[threading.Thread]:
        return [it for it in threading.enumerate() if it.name == "spark-kinesis-monitor"]

    seen = Seen()
    monitored = Monitored([seen], lambda _: {0: {"openShards": "1"}}, pause=0.01)
    for _ in range(2):
        seen.news.clear()
        monitored.started(RUN, "orders")
        assert seen.news.wait(10)
        monitored.ended(RUN)
        for thread in asking():
            thread.join(10)
        assert not asking()


def test_a_question_without_an_answer_changes_nothing() -> None:
    asked = threading.Event()

    def live(_: str) -> dict[int, dict[str, str]]:
        asked.set()
        raise ConnectionError

    seen = Seen()
    monitored = Monitored([seen], live, pause=0.01)
    monitored.progressed(progress({"maxProcessingLagMs": "5"}))
    assert asked.wait(10)
    assert seen.values == {LAG: 5}
    monitored.ended(RUN)
