"""Retries with a clock that only moves in `sleep` and in requests."""

from __future__ import annotations

import random
from collections.abc import Sequence

import pytest
from hypothesis import given
from hypothesis import strategies as st

from log_processing.delivery.clock import Clock
from log_processing.delivery.retry import (
    LONGEST_PAUSE_SECONDS,
    Answer,
    NotDeliveredError,
    deliver,
    pause,
)

TIMEOUT = 20.0


class ManualClock:
    def __init__(self, seed: int) -> None:
        self.now = 0.0
        self.clock = Clock(lambda: self.now, self.sleep, random.Random(seed).random)

    def sleep(self, seconds: float) -> None:
        assert seconds >= 0
        self.now += seconds


class Service:
    """Refuses what a script says, then nothing, or everything for ever."""

    def __init__(self, clock: ManualClock, script: list[set[int]], *, recovers: bool) -> None:
        self.clock = clock
        self.script = script
        self.recovers = recovers
        self.accepted: list[int] = []
        self.started: list[float] = []

    def send(self, entries: Sequence[int]) -> Answer[int]:
        assert len(set(entries)) == len(entries)
        assert not set(entries) & set(self.accepted)
        self.started.append(self.clock.now)
        self.clock.now += 0.01
        refuses = self.script.pop(0) if self.script else set() if self.recovers else set(entries)
        self.accepted += [entry for entry in entries if entry not in refuses]
        return Answer([entry for entry in entries if entry in refuses], "busy")


@given(
    st.sets(st.integers(0, 30), min_size=1),
    st.lists(st.sets(st.integers(0, 30)), max_size=12),
    st.booleans(),
    st.integers(0, 1000),
)
def test_nothing_is_lost_and_the_deadline_holds(
    entries: set[int], script: list[set[int]], recovers: bool, seed: int
) -> None:
    clock = ManualClock(seed)
    service = Service(clock, list(script), recovers=recovers)
    failed = None
    try:
        deliver(
            sorted(entries),
            service.send,
            "table 'logs': items",
            timeout=TIMEOUT,
            clock=clock.clock,
        )
    except NotDeliveredError as error:
        failed = str(error)
    if failed is not None:
        assert "table 'logs'" in failed
        assert "20 s" in failed
        assert "busy" in failed
        assert clock.now >= TIMEOUT
    assert (failed is None) == (set(service.accepted) == entries)
    assert len(service.accepted) == len(set(service.accepted))
    assert max(service.started) <= TIMEOUT


def test_an_error_of_the_service_ends_it() -> None:
    def send(_: Sequence[int]) -> Answer[int]:
        raise NotDeliveredError("no such table")

    with pytest.raises(NotDeliveredError, match="no such table"):
        deliver([1], send, "table", timeout=TIMEOUT, clock=ManualClock(0).clock)


@given(st.integers(0, 10_000), st.floats(0, 1))
def test_pauses_are_bounded_and_grow(attempt: int, chance: float) -> None:
    assert 0 <= pause(attempt, lambda: chance) <= LONGEST_PAUSE_SECONDS
    assert pause(attempt, lambda: chance) <= pause(attempt + 1, lambda: chance)


def test_the_whole_pause_is_random() -> None:
    assert pause(0, lambda: 0.0) == 0.0
    assert pause(20, lambda: 1.0) == LONGEST_PAUSE_SECONDS
