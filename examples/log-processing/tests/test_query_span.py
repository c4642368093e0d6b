"""Spans of time are cut into hours."""

from __future__ import annotations

from hypothesis import given
from hypothesis import strategies as st
from stored_events import HOUR_US, SEVEN_US

from log_processing.query.span import Span, start_of_hour

spans = st.tuples(
    st.integers(SEVEN_US - HOUR_US, SEVEN_US + HOUR_US), st.integers(0, 30 * HOUR_US)
).map(lambda it: Span(it[0], it[0] + it[1]))


@given(spans)
def test_parts_cover_the_span_without_gap_and_overlap(span: Span) -> None:
    parts = list(span.hours())
    ends = [span.start, *[part.end for part in parts]]
    assert ends[-1] == span.end
    assert [part.start for part in parts] == ends[:-1]


@given(spans)
def test_a_part_is_within_one_hour(span: Span) -> None:
    for part in span.hours():
        assert part.start < part.end
        assert start_of_hour(part.start) == start_of_hour(part.end - 1)


@given(spans)
def test_newest_first_is_the_reverse(span: Span) -> None:
    assert list(span.hours_newest_first()) == list(span.hours())[::-1]


def test_an_empty_span_has_no_part() -> None:
    empty = Span(SEVEN_US, SEVEN_US)
    assert list(empty.hours()) == list(empty.hours_newest_first()) == []
