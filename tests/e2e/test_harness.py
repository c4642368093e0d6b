"""The judges are judged: what finds faults must find them."""

from __future__ import annotations

from streams import Written
from verdict import Collected, verdict

WRITTEN = [Written("a", 0), Written("a", 1), Written("b", 0)]
FIRST = Collected(0, "s", 1, "a", 0)
SECOND = Collected(0, "s", 2, "a", 1)
OTHER = Collected(1, "t", 3, "b", 0)
GOOD = {"lost": 0, "duplicated": 0, "out_of_order": 0, "foreign": 0}


def test_nothing_wrong() -> None:
    assert verdict(WRITTEN, [FIRST, SECOND, OTHER]) == GOOD


def test_a_lost_record() -> None:
    assert verdict(WRITTEN, [FIRST, OTHER]) == GOOD | {"lost": 1}


def test_a_record_that_came_twice() -> None:
    again = Collected(2, "s", 1, "a", 0)
    found = verdict(WRITTEN, [FIRST, SECOND, OTHER, again])
    assert found == GOOD | {"duplicated": 1, "out_of_order": 1}


def test_a_later_record_in_an_earlier_batch() -> None:
    late = Collected(2, "s", 1, "a", 0)
    assert verdict(WRITTEN, [SECOND, OTHER, late]) == GOOD | {"out_of_order": 1}


def test_a_later_record_earlier_in_its_batch() -> None:
    assert verdict(WRITTEN, [SECOND, FIRST, OTHER]) == GOOD | {"out_of_order": 1}


def test_a_record_nobody_wrote() -> None:
    stranger = Collected(0, "s", 9, "c", 0)
    assert verdict(WRITTEN, [FIRST, SECOND, OTHER, stranger]) == GOOD | {"foreign": 1}
