"""SIGTERM: which queries stop, and when the signal has its earlier effect. Without Spark."""

from __future__ import annotations

import os
import signal
import threading
import time
from datetime import timedelta
from types import SimpleNamespace
from typing import TYPE_CHECKING, Any

import pytest

from spark_kinesis import KinesisJarMissingError, _stop, stop_on_sigterm

if TYPE_CHECKING:
    from collections.abc import Iterator

TIMEOUT = timedelta(seconds=25)
PATIENCE_SECONDS = 60


class ConnectSession:
    """A session with queries, until it ends."""

    def __init__(self) -> None:
        self.queries: list[Any] = []
        self.streams = self
        self.has_ended = False
        self.failures = 0

    @property
    def active(self) -> list[Any]:
        if self.has_ended:
            raise ConnectionError
        if self.failures:
            self.failures -= 1
            raise RuntimeError
        return self.queries

    @property
    def is_stopped(self) -> bool:
        return self.has_ended

    def start(self, run: str) -> None:
        self.queries = [*self.queries, SimpleNamespace(runId=run)]


ConnectSession.__module__ = "pyspark.sql.connect.session"


@pytest.fixture
def earlier() -> Iterator[threading.Event]:
    """Set when the handler that the program had before receives the signal."""
    received = threading.Event()
    before = signal.signal(signal.SIGTERM, lambda _number, _frame: received.set())
    yield received
    signal.signal(signal.SIGTERM, before)


@pytest.fixture
def session(monkeypatch: pytest.MonkeyPatch) -> Iterator[Any]:
    """A session with the connector."""
    monkeypatch.setattr(_stop, "require_connector", lambda _: None)
    started = ConnectSession()
    yield started
    started.has_ended = True
    for thread in threading.enumerate():
        if thread.name == "spark-kinesis-stop":
            thread.join()


def terminate() -> None:
    os.kill(os.getpid(), signal.SIGTERM)


def test_queries_that_start_after_the_signal_stop_too(
    session: Any, earlier: threading.Event, monkeypatch: pytest.MonkeyPatch
) -> None:
    stopped: list[str] = []
    is_done = threading.Event()

    def stop(query: Any, timeout: timedelta) -> bool:
        assert TIMEOUT - timedelta(seconds=5) < timeout <= TIMEOUT
        stopped.append(query.runId)
        if query.runId == "second":
            is_done.set()
        else:
            session.start("second")
            assert is_done.wait(PATIENCE_SECONDS), "the second query waits for the first one"
        return True

    monkeypatch.setattr(_stop, "stop_gracefully", stop)
    session.start("first")
    stop_on_sigterm(session, TIMEOUT)
    terminate()
    assert is_done.wait(PATIENCE_SECONDS)
    assert stopped == ["first", "second"]
    assert not earlier.is_set()
    terminate()
    assert earlier.wait(PATIENCE_SECONDS), "a second signal has the earlier effect"


@pytest.mark.parametrize("has_ended", [False, True])
def test_without_an_active_query_the_signal_has_its_earlier_effect(
    session: Any, earlier: threading.Event, *, has_ended: bool
) -> None:
    session.has_ended = has_ended
    stop_on_sigterm(session, TIMEOUT)
    terminate()
    assert earlier.wait(PATIENCE_SECONDS)


def test_a_call_that_fails_once_is_made_again(
    session: Any, earlier: threading.Event, monkeypatch: pytest.MonkeyPatch
) -> None:
    stopped: list[str] = []
    is_done = threading.Event()

    def stop(query: Any, _timeout: timedelta) -> bool:
        stopped.append(query.runId)
        session.failures = 1
        if query.runId == "first" and stopped.count("first") == 1:
            raise RuntimeError
        if query.runId == "first":
            session.start("second")
        else:
            is_done.set()
        return True

    monkeypatch.setattr(_stop, "stop_gracefully", stop)
    session.start("first")
    session.failures = 2
    stop_on_sigterm(session, TIMEOUT)
    terminate()
    assert is_done.wait(PATIENCE_SECONDS)
    assert stopped == ["first", "first", "second"]
    assert not earlier.is_set()


def test_a_query_that_cannot_be_stopped_is_one_error_at_its_deadline(
    session: Any, earlier: threading.Event, monkeypatch: pytest.MonkeyPatch
) -> None:
    left: list[timedelta] = []
    errors: list[Any] = []
    is_over = threading.Event()

    def stop(_query: Any, timeout: timedelta) -> bool:
        left.append(timeout)
        raise RuntimeError

    def report(error: Any) -> None:
        errors.append(error.exc_type)
        is_over.set()

    monkeypatch.setattr(threading, "excepthook", report)
    monkeypatch.setattr(_stop, "stop_gracefully", stop)
    session.start("first")
    stop_on_sigterm(session, timedelta(milliseconds=500))
    terminate()
    assert is_over.wait(PATIENCE_SECONDS)
    time.sleep(0.3)  # the session is looked at again meanwhile
    assert errors == [RuntimeError]
    assert left == sorted(left, reverse=True)
    assert timedelta(0) < left[0] <= timedelta(milliseconds=500)
    assert left[-1] == timedelta(0), "the last call interrupts the micro-batch"
    assert not earlier.is_set()


def test_a_query_whose_thread_cannot_start_is_stopped_later(
    session: Any, earlier: threading.Event, monkeypatch: pytest.MonkeyPatch
) -> None:
    is_done = threading.Event()
    start, failures = _stop._start, [1]

    def start_later(target: Any, *args: Any, daemon: bool) -> None:
        if target is _stop._stop_one and failures:
            failures.pop()
            message = "can't start new thread"
            raise RuntimeError(message)
        start(target, *args, daemon=daemon)

    monkeypatch.setattr(_stop, "_start", start_later)
    monkeypatch.setattr(_stop, "stop_gracefully", lambda *_: is_done.set())
    session.start("first")
    stop_on_sigterm(session, TIMEOUT)
    terminate()
    assert is_done.wait(PATIENCE_SECONDS)
    assert not earlier.is_set()


def test_a_session_that_no_longer_answers_has_no_active_query(
    session: Any, earlier: threading.Event
) -> None:
    session.failures = 10**9
    stop_on_sigterm(session, timedelta(milliseconds=200))
    terminate()
    assert earlier.wait(PATIENCE_SECONDS)


def test_without_the_jar_the_signal_keeps_its_handler(
    session: Any, monkeypatch: pytest.MonkeyPatch
) -> None:
    def refuse(_: object) -> None:
        raise KinesisJarMissingError

    monkeypatch.setattr(_stop, "require_connector", refuse)
    before = signal.getsignal(signal.SIGTERM)
    with pytest.raises(KinesisJarMissingError):
        stop_on_sigterm(session, TIMEOUT)
    assert signal.getsignal(signal.SIGTERM) is before
