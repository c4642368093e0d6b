"""Requests in flight."""

from __future__ import annotations

import threading
from functools import partial

import pytest

from log_processing.delivery.in_flight import InFlight
from log_processing.delivery.retry import NotDeliveredError


def test_no_more_than_the_limit_run_at_a_time() -> None:
    running, peak, lock = 0, 0, threading.Lock()
    gate = threading.Barrier(3)

    def call() -> int:
        nonlocal running, peak
        with lock:
            running += 1
            peak = max(peak, running)
        gate.wait()
        with lock:
            running -= 1
        return 1

    with InFlight[int](3) as flights:
        done = [result for _ in range(9) for result in flights.start(call)]
        done += flights.finish()
    assert (sum(done), peak) == (9, 3)


def test_no_call_waits_in_a_queue() -> None:
    started: list[int] = []
    with InFlight[None](2) as flights:
        for number in range(20):
            flights.start(partial(started.append, number))
            # At most two have not ended, and none of the others is held in memory.
            assert len(started) >= number - 1
        list(flights.finish())
    assert sorted(started) == list(range(20))


def test_an_error_reaches_the_caller_and_ends_the_pauses_of_the_others() -> None:
    flights: InFlight[None] = InFlight(2)
    pausing = threading.Event()
    ended: list[str] = []

    def pause() -> None:
        pausing.set()
        try:
            flights.clock.sleep(20)
        except NotDeliveredError as error:
            ended.append(str(error))

    def fail() -> None:
        pausing.wait()
        raise ValueError("no")

    def run() -> None:
        with flights:
            flights.start(pause)
            flights.start(fail)
            list(flights.finish())

    with pytest.raises(ValueError, match="no"):
        run()
    assert ended == ["abandoned, because another request of the task failed"]


def test_without_calls_there_is_nothing_to_wait_for() -> None:
    with InFlight[int](2) as flights:
        assert list(flights.finish()) == []
