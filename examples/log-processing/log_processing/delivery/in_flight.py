"""Requests in flight: a bounded number of threads, and no queue."""

from __future__ import annotations

import threading
from concurrent.futures import FIRST_COMPLETED, Future, ThreadPoolExecutor, wait
from dataclasses import replace
from typing import TYPE_CHECKING, Callable, Generic, TypeVar

from .clock import SYSTEM_CLOCK
from .retry import NotDeliveredError

if TYPE_CHECKING:
    from collections.abc import Iterator

Result = TypeVar("Result")


class InFlight(Generic[Result]):
    """Runs calls in threads, at most ``limit`` at a time. One thread uses an instance.

    Use it in a ``with`` block: at an error, the block ends the pauses of all calls.
    """

    def __init__(self, limit: int) -> None:
        """Starts no thread yet."""
        self._limit = limit
        self._pool = ThreadPoolExecutor(limit, thread_name_prefix="in-flight")
        self._futures: set[Future[Result]] = set()
        self._abandoned = threading.Event()
        self.clock = replace(SYSTEM_CLOCK, sleep=self._sleep)

    def _sleep(self, seconds: float) -> None:
        if self._abandoned.wait(seconds):
            raise NotDeliveredError("abandoned, because another request of the task failed")

    def start(self, call: Callable[[], Result]) -> list[Result]:
        """Start a call, after one of the others has ended if there are too many.

        Returns:
            The results of calls that have ended.

        Raises:
            Exception: if a call failed.
        """
        done = self._take() if len(self._futures) >= self._limit else []
        self._futures.add(self._pool.submit(call))
        return done

    def finish(self) -> Iterator[Result]:
        """Wait for all calls, and return their results as they end.

        Raises:
            Exception: if a call failed.
        """
        while self._futures:
            yield from self._take()

    def _take(self) -> list[Result]:
        ended, self._futures = wait(self._futures, return_when=FIRST_COMPLETED)
        return [future.result() for future in ended]

    def __enter__(self) -> InFlight[Result]:
        return self

    def __exit__(self, kind: type[BaseException] | None, *_: object) -> None:
        if kind is not None:
            self._abandoned.set()
        self._pool.shutdown(wait=True)
