"""The demo: the comparison of the orders written with those in the copy."""

from __future__ import annotations

import random
from typing import TYPE_CHECKING

from hypothesis import given
from hypothesis import strategies as st

from spark_kinesis.tools import demo
from spark_kinesis.tools.cli import run
from spark_kinesis.tools.demo import faults, is_behind

if TYPE_CHECKING:
    import pytest

NONE = {"lost": 0, "duplicated": 0, "out_of_order": 0}
CUSTOMERS = st.lists(st.sampled_from(["a", "b", "c"]), min_size=1, max_size=60)


@given(CUSTOMERS, st.randoms())
def test_only_the_order_within_a_customer_counts(
    customers: list[str], chance: random.Random
) -> None:
    orders = [(customer, number) for number, customer in enumerate(customers)]
    names = sorted(set(customers), key=lambda _: chance.random())
    by_customer = [it for name in names for it in orders if it[0] == name]
    assert faults(len(orders), by_customer) == NONE


@given(CUSTOMERS, st.data())
def test_every_lost_order_is_found(customers: list[str], data: st.DataObject) -> None:
    orders = [(customer, number) for number, customer in enumerate(customers)]
    lost = data.draw(st.sets(st.sampled_from(orders)))
    kept = [it for it in orders if it not in lost]
    assert faults(len(orders), kept) == {**NONE, "lost": len(lost)}


@given(st.permutations(range(8)))
def test_every_order_after_a_later_one_is_out_of_order(numbers: list[int]) -> None:
    late = sum(any(n > number for n in numbers[:row]) for row, number in enumerate(numbers))
    found = faults(len(numbers), [("a", number) for number in numbers])
    assert found == {**NONE, "out_of_order": late}


def test_an_order_that_comes_twice_is_a_duplicate() -> None:
    assert faults(2, [("a", 0), ("a", 0), ("a", 1)]) == {**NONE, "duplicated": 1}


def test_a_missing_package_is_named(
    monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    monkeypatch.setattr(demo, "find_spec", lambda _: None)
    assert run(["demo"]) == 2
    assert "the demo needs pyspark: pip install 'pyspark>=" in (capsys.readouterr().err)


def test_a_query_that_has_not_begun_is_behind() -> None:
    assert is_behind(400, 0, 0)
    assert is_behind(400, 126, 0)
    assert not is_behind(400, 126, 1)
    assert is_behind(400, 600, 199)
    assert not is_behind(0, 600, 600)
