"""The demo: the comparison of the orders written with those that arrived."""

from __future__ import annotations

import random
from typing import TYPE_CHECKING

from hypothesis import given
from hypothesis import strategies as st

from spark_kinesis.tools import demo
from spark_kinesis.tools.cli import run
from spark_kinesis.tools.demo import Arrival, OrderKey, judge

if TYPE_CHECKING:
    import pytest

DELIVERIES = st.lists(st.sampled_from(["a", "b", "c"]), min_size=1, max_size=60)


def deliver(customers: list[str], rows_per_batch: int = 7) -> list[Arrival]:
    """The orders of each customer in order, in micro-batches."""
    numbers = dict.fromkeys(customers, 0)
    arrivals = []
    for at, customer in enumerate(customers):
        numbers[customer] += 1
        batch, row = divmod(at, rows_per_batch)
        arrivals.append(arrival(batch, row, customer, numbers[customer]))
    return arrivals


def arrival(batch: int, row: int, customer: str, number: int) -> Arrival:
    """An order in a row of a micro-batch."""
    return Arrival(batch=batch, row=row, customer=customer, number=number)


def orders_of(arrivals: list[Arrival]) -> list[OrderKey]:
    """The orders of some arrivals."""
    return [(it.customer, it.number) for it in arrivals]


@given(DELIVERIES, st.randoms())
def test_the_order_of_records_in_the_sink_does_not_matter(
    customers: list[str], chance: random.Random
) -> None:
    arrivals = deliver(customers)
    written = orders_of(arrivals)
    chance.shuffle(arrivals)
    verdict = judge(written, arrivals)
    assert verdict.is_flawless
    size = len(customers)
    expected = f"demo: written={size} read={size} lost=0 duplicated=0 out_of_order=0"
    assert str(verdict) == expected


@given(DELIVERIES, st.data())
def test_every_lost_order_is_found(customers: list[str], data: st.DataObject) -> None:
    arrivals = deliver(customers)
    kept = data.draw(st.lists(st.sampled_from(arrivals), unique=True))
    verdict = judge(orders_of(arrivals), kept)
    assert verdict.lost == len(arrivals) - len(kept)
    assert verdict.is_flawless == (verdict.lost == 0)


@given(DELIVERIES, st.data())
def test_an_order_in_two_rows_is_a_duplicate(customers: list[str], data: st.DataObject) -> None:
    arrivals = deliver(customers)
    twice = data.draw(st.sampled_from(arrivals))
    again = arrival(10_000, 0, twice.customer, twice.number)
    verdict = judge(orders_of(arrivals), [*arrivals, again])
    assert (verdict.lost, verdict.duplicated) == (0, 1)
    assert not verdict.is_flawless


@given(DELIVERIES, st.data())
def test_a_repeated_row_is_reported_and_no_duplicate(
    customers: list[str], data: st.DataObject
) -> None:
    arrivals = deliver(customers)
    again = data.draw(st.lists(st.sampled_from(arrivals)))
    verdict = judge(orders_of(arrivals), arrivals + again)
    assert verdict.is_flawless
    assert verdict.resent == len(again)


def test_a_batch_repeated_with_other_rows_is_a_fault() -> None:
    first = [arrival(0, 0, "a", 1), arrival(0, 1, "b", 1)]
    again = [arrival(0, 0, "b", 1), arrival(0, 1, "a", 1)]
    verdict = judge(orders_of(first), first + again)
    assert (verdict.lost, verdict.duplicated, verdict.resent) == (0, 2, 0)
    assert not verdict.is_flawless


@given(DELIVERIES, st.data())
def test_a_row_with_two_orders_is_a_duplicate(customers: list[str], data: st.DataObject) -> None:
    arrivals = deliver(customers)
    row, other = data.draw(st.sampled_from(arrivals)), arrival(0, 0, "late", 1)
    again = arrival(row.batch, row.row, other.customer, other.number)
    last = arrival(10_000, 0, other.customer, other.number)
    for found in ([*arrivals, again], [*arrivals, again, last], [again, last, *arrivals]):
        verdict = judge([*orders_of(arrivals), (other.customer, other.number)], found)
        assert (verdict.lost, verdict.duplicated) == (0, 1)
        assert not verdict.is_flawless


@given(st.permutations(range(1, 9)))
def test_every_row_after_a_later_order_is_out_of_order(numbers: list[int]) -> None:
    arrivals = [arrival(0, row, "a", number) for row, number in enumerate(numbers)]
    late = sum(any(n > number for n in numbers[:row]) for row, number in enumerate(numbers))
    verdict = judge(orders_of(arrivals), arrivals)
    assert (verdict.lost, verdict.duplicated, verdict.out_of_order) == (0, 0, late)
    assert verdict.is_flawless == (late == 0)


def test_only_the_order_within_a_customer_counts() -> None:
    arrivals = [arrival(0, 0, "a", 2), arrival(0, 1, "b", 1)]
    assert judge(orders_of(arrivals), arrivals).out_of_order == 0


def test_a_demo_without_orders_is_a_fault() -> None:
    assert not judge([], []).is_flawless


def test_an_order_that_was_not_written_is_a_fault() -> None:
    arrivals = deliver(["a", "b"])
    assert not judge(orders_of(arrivals)[:1], arrivals).is_flawless


def test_a_missing_package_is_named(
    monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    monkeypatch.setattr(demo, "find_spec", lambda _: None)
    assert run(["demo"]) == 2
    assert "the demo needs pyspark: pip install 'pyspark>=" in (capsys.readouterr().err)
