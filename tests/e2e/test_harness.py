"""The judges are judged: what finds faults must find them."""

from __future__ import annotations

import json
import sys
from pathlib import Path

from harness import Collected, Written, verdict

sys.path.append(str(Path(__file__).resolve().parents[2] / "examples"))

from demo_tally import Tally

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


def test_a_record_nobody_wrote() -> None:
    stranger = Collected(0, "s", 9, "c", 0)
    assert verdict(WRITTEN, [FIRST, SECOND, OTHER, stranger]) == GOOD | {"foreign": 1}


def count(batch: int, status: str, *visits: int) -> bytes:
    lines = [{"shard": "s", "sequence": str(v), "host": "h", "visit": v} for v in visits]
    return json.dumps(
        {"batch": batch, "status": status, "count": len(lines), "lines": lines}
    ).encode()


def test_the_demo_counts_a_repeated_record_once() -> None:
    tally = Tally()
    tally.wrote([("h", 1), ("h", 2)])
    for data in (count(0, "200", 1), count(0, "200", 1), count(1, "200", 2)):
        tally.counted(data)
    assert tally.verdict() == "demo: written=2 read=2 lost=0 duplicated=0 out_of_order=0"
    assert tally.is_flawless()


def test_the_demo_sees_every_fault() -> None:
    tally = Tally()
    tally.wrote([("h", 1), ("h", 2), ("h", 3)])
    for data in (count(0, "200", 2), count(1, "200", 1), count(2, "404", 1)):
        tally.counted(data)
    assert tally.verdict() == "demo: written=3 read=3 lost=1 duplicated=1 out_of_order=1"
    assert not tally.is_flawless()


def test_a_demo_without_lines_is_no_success() -> None:
    assert not Tally().is_flawless()
