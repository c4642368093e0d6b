"""SIGTERM: which queries stop, and when the signal has its earlier effect. Without Spark."""

from __future__ import annotations

import os
import signal
import threading
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
        assert timeout == TIMEOUT
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

    monkeypatch.setattr(threading, "excepthook", lambda _: None)  # the error is shown there
    monkeypatch.setattr(_stop, "stop_gracefully", stop)
    session.start("first")
    session.failures = 2
    stop_on_sigterm(session, TIMEOUT)
    terminate()
    assert is_done.wait(PATIENCE_SECONDS)
    assert stopped == ["first", "first", "second"]
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
