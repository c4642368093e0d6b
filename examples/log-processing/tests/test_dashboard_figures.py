"""The figures of the dashboard: from batches to numbers."""

from __future__ import annotations

from collections import Counter

from batches import NOW, batch
from hypothesis import given
from hypothesis import strategies as st

from log_processing.dashboard.figures import MOST_SHARDS, figures
from log_processing.dashboard.rates import MOST_SERIES, OTHERS, SHOWN_SECONDS, rates
from log_processing.dashboard.state import EMPTY, FAILED, LIVE, STALE, state
from log_processing.progress import Latency, LatestError, Progress, ShardLag

NOW_MS = NOW * 1000
cells = st.tuples(
    st.integers(NOW - SHOWN_SECONDS - 5, NOW),
    st.integers(0, 12).map(lambda number: f"service {number}"),
    st.sampled_from(["INFO", "info", "ERROR", "odd", *[f"level {it}" for it in range(9)]]),
    st.integers(1, 100),
)
batches = st.lists(st.lists(cells, max_size=8), min_size=1, max_size=6).map(
    lambda found: [batch(number, seconds=cells) for number, cells in enumerate(found)]
)


@given(batches)
def test_both_charts_show_each_event_once(found: list[Progress]) -> None:
    start = NOW - SHOWN_SECONDS
    counted = rates(found, start=start)
    expected: Counter[int] = Counter()
    for it in found:
        for second, _, _, count in it.seconds:
            if second >= start:
                expected[second] += count
    assert dict(zip(counted.seconds, counted.totals)) == {
        second: expected[second] for second in counted.seconds
    }
    assert sum(counted.totals) == sum(expected.values())
    for series in (counted.levels, counted.services):
        assert len(series) <= MOST_SERIES
        assert len({it.name for it in series}) == len(series)
        columns = zip(*(it.counts for it in series))
        assert [sum(column) for column in columns] == counted.totals


def test_seconds_have_no_gap() -> None:
    found = rates([batch(1, seconds=[(NOW - 3, "a", "INFO", 2), (NOW, "a", "INFO", 1)])], start=0)
    assert found.seconds == [NOW - 3, NOW - 2, NOW - 1, NOW]
    assert found.totals == [2, 0, 0, 1]


def test_levels_are_in_the_order_of_severity() -> None:
    cells = [(NOW, "a", level, 1) for level in ("debug", "Error", "odd", "INFO", "ERROR")]
    found = rates([batch(1, seconds=cells)], start=0)
    assert [it.name for it in found.levels] == ["ERROR", "INFO", "DEBUG", "ODD"]
    assert found.levels[0].counts == [2]


def test_small_services_are_one_series() -> None:
    cells = [(NOW, f"s{number:02d}", "INFO", 100 - number) for number in range(20)]
    cells.append((NOW, OTHERS, "INFO", 500))
    found = rates([batch(1, seconds=cells)], start=0)
    assert [it.name for it in found.services] == [*[f"s{it:02d}" for it in range(7)], OTHERS]


def test_the_shard_that_is_furthest_behind_is_first() -> None:
    shards = [ShardLag("logs", f"shard {number:02d}", number * 100) for number in range(30)]
    found = figures([batch(1, shards=shards)], now=NOW_MS)
    assert len(found["shards"]) == MOST_SHARDS
    assert found["shards"][0] == {"name": "logs shard 29", "behindMs": 2900}
    assert found["now"]["behindMs"] == 2900
    assert found["texts"]["shards"] == (
        "30 shards with records in the last minute. Largest lag: logs shard 29, 2.9 s. "
        "The chart shows the 20 shards with the largest lag."
    )
    more = figures([batch(1, shards=shards, shard_count=500)], now=NOW_MS)
    assert more["texts"]["shards"].startswith("500 shards with records in the last minute.")
    assert more["texts"]["shards"].endswith("The chart shows the 20 shards with the largest lag.")


def test_a_shard_without_records_in_the_last_batch_keeps_its_lag_for_a_minute() -> None:
    found = [
        batch(1, NOW - 61, shards=[ShardLag("logs", "closed", 9)]),
        batch(2, NOW - 60, shards=[ShardLag("logs", "a", 7), ShardLag("logs", "b", 5)]),
        batch(3, NOW, shards=[ShardLag("logs", "b", 6)]),
    ]
    assert figures(found, now=NOW_MS)["shards"] == [
        {"name": "logs a", "behindMs": 7},
        {"name": "logs b", "behindMs": 6},
    ]


def test_latest_errors_of_all_batches_are_newest_first() -> None:
    found = [
        batch(number, errors=[LatestError(f"2026-11-23T07:{number:02d}", "a", f"m{number}")])
        for number in range(20)
    ]
    errors = figures(found, now=NOW_MS)["errors"]
    assert [it["message"] for it in errors] == [f"m{number}" for number in range(19, 9, -1)]


def test_latency_is_over_time_and_of_the_last_batch() -> None:
    found = [
        batch(1, NOW - 4, latency=Latency(100, 200, 300)),
        batch(2, NOW - 2),
        batch(3, NOW, latency=Latency(110, 220, 330)),
    ]
    shown = figures(found, now=NOW_MS)
    assert shown["latency"] == {
        "times": [NOW_MS - 4000, NOW_MS],
        "p50": [100, 110],
        "p99": [200, 220],
    }
    assert (shown["now"]["p50"], shown["now"]["p99"]) == (110, 220)
    assert figures(found[:2], now=NOW_MS)["now"]["p99"] is None


def test_bad_events_of_the_last_minutes_are_counted() -> None:
    found = [batch(1, NOW - SHOWN_SECONDS - 1, bad=100), batch(2, NOW - 1, bad=2), batch(3, bad=3)]
    shown = figures(found, now=NOW_MS)
    assert shown["bad"]["counts"] == [2, 3]
    assert shown["now"]["bad"] == 5
    assert shown["texts"]["bad"] == "Last 5 minutes: 5 bad events."


def test_the_rate_leaves_out_the_newest_second() -> None:
    cells = [(NOW - it, "a", "INFO", 10) for it in range(1, 30)] + [(NOW, "a", "INFO", 1)]
    assert figures([batch(1, seconds=cells)], now=NOW_MS)["now"]["eventsPerSecond"] == 10


def test_old_batches_have_figures_too() -> None:
    shown = figures([batch(1, NOW - 9_999, seconds=[(NOW - 9_999, "a", "INFO", 1)])], now=NOW_MS)
    assert shown["seconds"] == []
    assert shown["now"]["eventsPerSecond"] == 0
    assert shown["texts"]["levels"] == "Last 5 minutes: no events."


def test_the_page_is_live_while_batches_come() -> None:
    assert state([batch(1, NOW - 9)], now=NOW, failure=None).name == LIVE
    # The clock of the job may be ahead.
    assert state([batch(1, NOW + 5)], now=NOW, failure=None).name == LIVE


def test_the_page_says_since_when_no_batch_came() -> None:
    found = state([batch(1, NOW - 30), batch(2, NOW - 28)], now=NOW, failure=None)
    assert found.name == STALE
    assert found.words.startswith("No batch for 28 s. The job has stopped, or no events arrive.")


def test_a_job_with_long_batches_is_not_stale() -> None:
    found = [batch(number, NOW - 100 + number * 20) for number in range(4)]
    assert state(found, now=NOW, failure=None).name == LIVE
    assert state(found, now=NOW + 30, failure=None).name == STALE


def test_a_page_without_batches_is_empty_or_failed() -> None:
    assert state([], now=NOW, failure=None).name == EMPTY
    assert state([batch(1)], now=NOW, failure="no table").name == FAILED
