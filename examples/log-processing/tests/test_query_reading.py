"""Reading the buckets of a service: order, completeness and the number of items read."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterator
from concurrent.futures import ThreadPoolExecutor
from typing import Any

import made
import pytest
from hypothesis import given
from hypothesis import strategies as st
from stored_events import HOUR_US, MINUTE_US, SERVICE, SEVEN_US, MemoryTable, item, sort_keys

from log_processing.events.lifetime import why_not_stored
from log_processing.query.counting import by_minute
from log_processing.query.latest import latest
from log_processing.query.merge import Page, TableItem, merge_buckets, read_bucket
from log_processing.query.span import Span
from log_processing.query.table import LogTable
from log_processing.query.window import PAGE_SIZE, count, window
from log_processing.table.items import event_item
from log_processing.table.keys import BUCKETS

NOW = SEVEN_US + 30 * MINUTE_US
DAY_US = 24 * HOUR_US
LEVELS = st.sampled_from(["INFO", "ERROR", "warn"])
# Times that are often equal, up to three hours in the past, and some in the future.
times = st.integers(-180, 70) | st.integers(-180, 1500)
times = times.map(lambda minutes: NOW + minutes * MINUTE_US)
events = st.lists(st.tuples(times, LEVELS), max_size=60).map(
    lambda found: [item(time, number, level=level) for number, (time, level) in enumerate(found)]
)
page_limits = st.integers(1, 5)


@pytest.fixture(scope="module")
def threads() -> Iterator[ThreadPoolExecutor]:
    with ThreadPoolExecutor(4) as executor:
        yield executor


def within(items: list[dict[str, Any]], span: Span) -> list[dict[str, Any]]:
    """All items of a span, sorted: what the table must answer."""
    start, end = item(span.start)["timestamp"]["S"], item(span.end)["timestamp"]["S"]
    chosen = [it for it in items if start <= it["timestamp"]["S"] < end]
    return sorted(chosen, key=lambda it: str(it["sk"]["S"]))


@given(
    buckets=st.lists(st.lists(st.integers(0, 50), max_size=20), max_size=6),
    size=page_limits,
    ahead=st.booleans(),
    newest_first=st.booleans(),
)
def test_merged_buckets_equal_sorting_everything(
    threads: ThreadPoolExecutor,
    buckets: list[list[int]],
    size: int,
    ahead: bool,
    newest_first: bool,
) -> None:
    def reader(numbers: list[int]) -> Iterator[TableItem]:
        rows = [{"sk": {"S": f"{it:04d}"}} for it in sorted(numbers, reverse=newest_first)]

        def fetch(last_key: TableItem | None) -> Page:
            start = 0 if last_key is None else last_key["next"]
            end = start + size
            return Page(rows[start:end], {"next": end} if end < len(rows) else None)

        return read_bucket(fetch, threads, ahead=ahead)

    merged = merge_buckets(map(reader, buckets), newest_first=newest_first)
    everything = [f"{it:04d}" for bucket in buckets for it in bucket]
    assert sort_keys(merged) == sorted(everything, reverse=newest_first)


@given(events, page_limits, st.integers(1, 40), st.integers(1, 4))
def test_latest_equals_the_last_of_all(
    threads: ThreadPoolExecutor,
    stored: list[dict[str, Any]],
    largest_page: int,
    wanted: int,
    hours: int,
) -> None:
    table = LogTable(MemoryTable(stored, largest_page), "logs", threads)
    found = latest(table, SERVICE, wanted=wanted, hours=hours, now=NOW)
    limit = Span(NOW - hours * HOUR_US, NOW + DAY_US)
    assert sort_keys(found.items) == sort_keys(within(stored, limit)[-wanted:])
    if len(found.items) < wanted:
        assert found.searched == limit


@given(events, page_limits, times, st.integers(0, 200))
def test_window_equals_all_events_of_the_time(
    threads: ThreadPoolExecutor,
    stored: list[dict[str, Any]],
    largest_page: int,
    start: int,
    minutes: int,
) -> None:
    table = LogTable(MemoryTable(stored, largest_page), "logs", threads)
    span = Span(start, start + minutes * MINUTE_US)
    assert sort_keys(window(table, SERVICE, span)) == sort_keys(within(stored, span))


@given(events, page_limits)
def test_counts_equal_counting_all_events(
    threads: ThreadPoolExecutor, stored: list[dict[str, Any]], largest_page: int
) -> None:
    table = LogTable(MemoryTable(stored, largest_page), "logs", threads)
    span = Span(NOW - HOUR_US, NOW)
    rows = by_minute(count(table, SERVICE, span))
    expected = Counter((it["timestamp"]["S"][:16], it["level"]["S"]) for it in within(stored, span))
    flat = {(minute, level): it for minute, row in rows.items() for level, it in row.items()}
    assert flat == expected
    assert list(rows) == sorted(rows)


def test_latest_reads_one_small_page_per_bucket(threads: ThreadPoolExecutor) -> None:
    memory = MemoryTable([item(SEVEN_US + number, number) for number in range(5_000)])
    found = latest(LogTable(memory, "logs", threads), SERVICE, wanted=50, hours=24, now=NOW)
    assert len(found.items) == 50
    # The hours ahead are empty. The hour that has the events is the last one that is read.
    assert min(memory.hours_queried()) == "2026-11-23T07"
    assert max(memory.hours_queried()) == "2026-11-24T07"
    assert memory.items_read <= 5 * 50
    assert found.searched.start == SEVEN_US


@pytest.mark.parametrize("ahead", [0, 5 * HOUR_US, DAY_US - 1])
def test_latest_finds_what_the_job_stores_although_it_is_dated_ahead(
    threads: ThreadPoolExecutor, ahead: int
) -> None:
    now = made.NOW_MS * 1000  # the record arrives now
    event = made.log_event(time_us=now + ahead)
    assert why_not_stored(event, 30, made.NOW_S) is None
    memory = MemoryTable([item(now - HOUR_US, 1), event_item(event, 30).attributes])
    found = latest(LogTable(memory, "logs", threads), SERVICE, wanted=1, hours=2, now=now)
    assert sort_keys(found.items) == [event_item(event, 30).key[1]]


def test_a_search_without_events_makes_one_request_per_hour_and_bucket(
    threads: ThreadPoolExecutor,
) -> None:
    memory = MemoryTable([])
    assert latest(LogTable(memory, "logs", threads), SERVICE, wanted=50, hours=24, now=NOW)
    assert len(memory.queries) == 49 * BUCKETS == 784  # as the README says


def test_latest_stops_at_the_limit(threads: ThreadPoolExecutor) -> None:
    memory = MemoryTable([item(NOW - 4 * HOUR_US)])
    found = latest(LogTable(memory, "logs", threads), SERVICE, wanted=1, hours=3, now=NOW)
    assert found.items == []
    assert min(memory.hours_queried()) == "2026-11-23T04"


def test_a_window_reads_at_most_one_page_per_bucket_ahead(threads: ThreadPoolExecutor) -> None:
    memory = MemoryTable([item(SEVEN_US + number, number) for number in range(10_000)])
    table = LogTable(memory, "logs", threads)
    next(window(table, SERVICE, Span(SEVEN_US, SEVEN_US + HOUR_US)))
    assert memory.items_read <= 2 * BUCKETS * PAGE_SIZE


def test_a_failed_request_is_raised(threads: ThreadPoolExecutor) -> None:
    class Broken:
        def query(self, **_: object) -> None:
            raise ConnectionError("broken")

    table = LogTable(Broken(), "logs", threads)
    with pytest.raises(ConnectionError, match="broken"):
        latest(table, SERVICE, wanted=1, hours=1, now=NOW)


def test_services_with_similar_names_are_apart(threads: ThreadPoolExecutor) -> None:
    names = ["a", "a#2026-11-23T07", "a%23", "a%2523", "A", "#a"]
    memory = MemoryTable(item(SEVEN_US, number, service=it) for number, it in enumerate(names))
    table = LogTable(memory, "logs", threads)
    for name in names:
        found = latest(table, name, wanted=10, hours=1, now=NOW)
        assert [it["service"]["S"] for it in found.items] == [name]
