"""Summaries of partitions, and the progress of a batch."""

from __future__ import annotations

from typing import TYPE_CHECKING

import made
import pytest
from hypothesis import given
from hypothesis import strategies as st

from log_processing import progress
from log_processing.batch import progress as progress_of
from log_processing.summary import MAX_SECONDS, Summary, from_json, to_json
from log_processing.table.items import MAX_ITEM_BYTES, progress_item

if TYPE_CHECKING:
    from log_processing.events.event import LogEvent

levels = st.sampled_from(["INFO", "WARN", "ERROR"])
events = st.builds(
    made.log_event,
    message=made.clean_texts,
    number=st.integers(0, 1000),
    service=made.clean_texts.filter(bool),
    level=levels,
)
delays = st.integers(0, 10**7)


def summary_of(stored: list[tuple[LogEvent, int]]) -> Summary:
    summary = Summary()
    for event, delay in stored:
        summary.count_record(made.record(b""))
        summary.count_stored(event, made.NOW_MS + delay)
    return summary


stored = st.lists(st.tuples(events, delays), max_size=30)


@given(stored, stored)
def test_partitions_add_up(
    first: list[tuple[LogEvent, int]], second: list[tuple[LogEvent, int]]
) -> None:
    both, added = summary_of(first + second), summary_of(first)
    added.add(from_json(to_json(summary_of(second))))
    assert added == both
    assert from_json(to_json(both)) == both


@given(st.lists(delays, min_size=1), st.floats(0.01, 1))
def test_a_percentile_is_at_most_one_percent_too_large(millis: list[int], share: float) -> None:
    summary = summary_of([(made.log_event(), delay) for delay in millis])
    exact = sorted(millis)[max(0, -int(-share * len(millis) // 1) - 1)]
    assert exact <= summary.percentile(share) <= exact * 1.01 + 1


@given(stored)
def test_progress_can_be_read_back(given: list[tuple[LogEvent, int]]) -> None:
    done = progress_of(summary_of(given), "query", 7, made.NOW_MS)
    read = progress.from_json(done.to_json())
    assert read == done
    assert (read.batch, read.events) == (7, len(given))
    assert (read.latency is None) == (not given)


def test_the_progress_of_a_strange_batch_fits_into_an_item() -> None:
    summary = Summary()
    for number in range(3 * MAX_SECONDS):
        event = made.log_event(
            "\x00" * 10_000, number, service=f"{number}" + "é" * 500, level="error"
        )
        summary.count_stored(event, made.NOW_MS)
    whole = Summary()
    for _ in range(3):
        whole.add(summary)
    done = progress_of(whole, "query", 1, made.NOW_MS)
    assert len(done.seconds) <= MAX_SECONDS
    assert len(done.latestErrors) == 5
    item = progress_item(("#progress#logs", "1"), done.to_json(), 1)
    assert item.stored_bytes <= MAX_ITEM_BYTES
    assert done.events == 9 * MAX_SECONDS


def test_the_newest_seconds_are_kept() -> None:
    summary = Summary()
    for number in range(3 * MAX_SECONDS):
        summary.seconds[number, "a", "INFO"] += 1
    summary.add(Summary())
    assert sorted(second for second, _, _ in summary.seconds) == list(
        range(2 * MAX_SECONDS, 3 * MAX_SECONDS)
    )


def test_the_lag_of_a_shard_counts_from_its_newest_record() -> None:
    summary = Summary()
    for arrival in (5000, 9000, 7000):
        summary.count_record(made.record(b"", arrival_ms=arrival))
    (shard,) = progress_of(summary, "query", 1, 10_000).shards
    assert shard == progress.ShardLag("logs", "shardId-000000000000", 1000)


@pytest.mark.parametrize("letter", ["é", "中", "😀", "\x01", '"'])
def test_the_longest_names_fit_into_the_item(letter: str) -> None:
    summary = Summary()
    for number in range(2 * MAX_SECONDS):
        name = f"{number}{letter * 500}"
        event = made.log_event(number=number, service=name, level=letter * 128)
        summary.count_stored(event, made.NOW_MS)
    total = Summary()
    total.add(summary)
    text = progress_of(total, "query", 7, made.NOW_MS).to_json()
    assert progress_item(("#progress#logs", "7"), text, 1).stored_bytes <= MAX_ITEM_BYTES
