"""The harness itself: it must notice lost, repeated and misplaced records."""

from __future__ import annotations

import pytest

from tests.e2e.support.streams import Written
from tests.e2e.support.verdict import Collected, assert_written_in_order, verdict

WRITTEN = [Written("a", 0), Written("a", 1), Written("b", 0)]
FIRST = Collected(0, "s", 1, "a", 0)
SECOND = Collected(0, "s", 2, "a", 1)
OTHER = Collected(1, "t", 3, "b", 0)
GOOD = {"lost": 0, "duplicated": 0, "out_of_order": 0, "foreign": 0}


def test_a_verdict_without_faults() -> None:
    assert verdict(WRITTEN, [FIRST, SECOND, OTHER]) == GOOD


def test_a_lost_record_is_counted() -> None:
    assert verdict(WRITTEN, [FIRST, OTHER]) == GOOD | {"lost": 1}


def test_a_repeated_record_is_counted() -> None:
    again = Collected(2, "s", 1, "a", 0)
    found = verdict(WRITTEN, [FIRST, SECOND, OTHER, again])
    assert found == GOOD | {"duplicated": 1, "out_of_order": 1}


def test_a_later_record_in_an_earlier_batch_is_out_of_order() -> None:
    late = Collected(2, "s", 1, "a", 0)
    assert verdict(WRITTEN, [SECOND, OTHER, late]) == GOOD | {"out_of_order": 1}


def test_a_later_record_earlier_in_its_batch_is_out_of_order() -> None:
    assert verdict(WRITTEN, [SECOND, FIRST, OTHER]) == GOOD | {"out_of_order": 1}


def test_a_record_that_was_not_written_is_foreign() -> None:
    stranger = Collected(0, "s", 9, "c", 0)
    assert verdict(WRITTEN, [FIRST, SECOND, OTHER, stranger]) == GOOD | {"foreign": 1}


NUMBERS = [("a", 0), ("b", 0), ("a", 1)]
COUNTS = {"a": 2, "b": 1}


def test_keys_in_order_are_accepted() -> None:
    assert_written_in_order(COUNTS, NUMBERS)
    assert_written_in_order(COUNTS, [*NUMBERS, ("a", 0), ("a", 1)], may_repeat=True)


@pytest.mark.parametrize("may_repeat", [False, True])
@pytest.mark.parametrize(
    "arrived",
    [
        pytest.param(NUMBERS[:2], id="the last is lost"),
        pytest.param(NUMBERS[1:], id="the first is lost"),
        pytest.param(NUMBERS[::-1], id="an inversion"),
        pytest.param([("a", 1), *NUMBERS], id="an inversion, repeated in order"),
        pytest.param([*NUMBERS, ("c", 0)], id="a key that was not written"),
        pytest.param([*NUMBERS, ("a", 2)], id="a number that was not written"),
    ],
)
def test_keys_out_of_order_are_refused(arrived: list[tuple[str, int]], may_repeat: bool) -> None:
    with pytest.raises(AssertionError):
        assert_written_in_order(COUNTS, arrived, may_repeat=may_repeat)


def test_a_repeated_number_is_refused() -> None:
    with pytest.raises(AssertionError, match="twice"):
        assert_written_in_order(COUNTS, [*NUMBERS, ("a", 0)])
