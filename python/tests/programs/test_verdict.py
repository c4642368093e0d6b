"""The demo: the comparison of the lines written with the lines that arrived."""

from __future__ import annotations

import random

from hypothesis import given
from hypothesis import strategies as st

from python.tests.programs.deliveries import arrival, deliver, lines_of
from spark_kinesis.demo.verdict import Arrival, LineKey, Verdict, judge

DELIVERIES = st.lists(st.sampled_from(["a", "b", "c"]), min_size=1, max_size=60)


def verdict_on(written: list[LineKey], arrivals: list[Arrival]) -> Verdict:
    """The verdict with counts that match."""
    return judge(written, arrivals, counted=len({(a.batch, a.row) for a in arrivals}))


@given(DELIVERIES, st.randoms())
def test_the_order_of_records_in_the_sink_does_not_matter(
    clients: list[str], chance: random.Random
) -> None:
    arrivals = deliver(clients)
    written = lines_of(arrivals)
    chance.shuffle(arrivals)
    verdict = verdict_on(written, arrivals)
    assert verdict.is_flawless
    size = len(clients)
    expected = f"demo: written={size} read={size} lost=0 duplicated=0 out_of_order=0"
    assert str(verdict) == expected


@given(DELIVERIES, st.data())
def test_every_lost_line_is_found(clients: list[str], data: st.DataObject) -> None:
    arrivals = deliver(clients)
    kept = data.draw(st.lists(st.sampled_from(arrivals), unique=True))
    verdict = verdict_on(lines_of(arrivals), kept)
    assert verdict.lost == len(arrivals) - len(kept)
    assert verdict.is_flawless == (verdict.lost == 0)


@given(DELIVERIES, st.data())
def test_a_line_in_two_rows_is_a_duplicate(clients: list[str], data: st.DataObject) -> None:
    arrivals = deliver(clients)
    twice = data.draw(st.sampled_from(arrivals))
    again = arrival(10_000, 0, twice.client, twice.number)
    verdict = verdict_on(lines_of(arrivals), [*arrivals, again])
    assert (verdict.lost, verdict.duplicated) == (0, 1)
    assert not verdict.is_flawless


@given(DELIVERIES, st.data())
def test_a_repeated_row_is_reported_and_no_duplicate(
    clients: list[str], data: st.DataObject
) -> None:
    arrivals = deliver(clients)
    again = data.draw(st.lists(st.sampled_from(arrivals)))
    verdict = verdict_on(lines_of(arrivals), arrivals + again)
    assert verdict.is_flawless
    assert verdict.resent == len(again)


def test_a_batch_repeated_with_other_rows_is_a_fault() -> None:
    first = [arrival(0, 0, "a", 1), arrival(0, 1, "b", 1)]
    again = [arrival(0, 0, "b", 1), arrival(0, 1, "a", 1)]
    verdict = verdict_on(lines_of(first), first + again)
    assert (verdict.lost, verdict.duplicated, verdict.resent) == (0, 2, 0)
    assert not verdict.is_flawless


@given(DELIVERIES, st.data())
def test_a_row_with_two_lines_is_a_duplicate(clients: list[str], data: st.DataObject) -> None:
    arrivals = deliver(clients)
    row, other = data.draw(st.sampled_from(arrivals)), arrival(0, 0, "late", 1)
    again = arrival(row.batch, row.row, other.client, other.number)
    last = arrival(10_000, 0, other.client, other.number)
    for found in ([*arrivals, again], [*arrivals, again, last], [again, last, *arrivals]):
        verdict = verdict_on([*lines_of(arrivals), other.line], found)
        assert (verdict.lost, verdict.duplicated) == (0, 1)
        assert not verdict.is_flawless


@given(st.permutations(range(1, 9)))
def test_every_row_after_a_later_line_is_out_of_order(numbers: list[int]) -> None:
    arrivals = [arrival(0, row, "a", number) for row, number in enumerate(numbers)]
    late = sum(any(n > number for n in numbers[:row]) for row, number in enumerate(numbers))
    verdict = verdict_on(lines_of(arrivals), arrivals)
    assert (verdict.lost, verdict.duplicated, verdict.out_of_order) == (0, 0, late)
    assert verdict.is_flawless == (late == 0)


def test_only_the_order_within_a_client_counts() -> None:
    arrivals = [arrival(0, 0, "a", 2), arrival(0, 1, "b", 1)]
    assert verdict_on(lines_of(arrivals), arrivals).out_of_order == 0


def test_a_demo_without_lines_is_a_fault() -> None:
    assert not verdict_on([], []).is_flawless


def test_counts_that_do_not_match_are_a_fault() -> None:
    arrivals = deliver(["a", "b"])
    assert not judge(lines_of(arrivals), arrivals, counted=1).is_flawless


def test_a_line_that_was_not_written_is_a_fault() -> None:
    arrivals = deliver(["a", "b"])
    assert not verdict_on(lines_of(arrivals)[:1], arrivals).is_flawless
