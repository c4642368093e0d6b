"""Asking again, a little later each time, for a bounded time."""

from __future__ import annotations

import random
import time
from collections.abc import Callable
from typing import TYPE_CHECKING, Any, TypeVar

from ._errors import KinesisRefusedError, LocalKinesisError, NoAnswerError

if TYPE_CHECKING:
    from ._wire import Wire

A = TypeVar("A")

RATE_SECONDS = 3.0  # rates are counted by the second
FAULT_SECONDS = 30.0
FIRST_PAUSE_SECONDS, LONGEST_PAUSE_SECONDS = 0.05, 1.0

_BUSY = ("LimitExceededException", "ProvisionedThroughputExceededException")
_PASSING = (*_BUSY, "KMSThrottlingException", "InternalFailure", "ServiceUnavailable")
_HTTP_SERVER_ERROR = "HTTP 5"


def pause(attempt: int, chance: Callable[[], float] = random.random) -> float:
    """Seconds to wait after a failed attempt, the first being 0: full jitter, doubling."""
    longest = min(LONGEST_PAUSE_SECONDS, FIRST_PAUSE_SECONDS * float(2 ** min(attempt, 10)))
    return longest * chance()


def is_rate(error: LocalKinesisError) -> bool:
    """Whether a call came too soon after others; nothing was changed by it."""
    return isinstance(error, KinesisRefusedError) and error.code in _BUSY


def is_passing(error: LocalKinesisError) -> bool:
    """Whether a call that only reads may do better in a moment."""
    if isinstance(error, KinesisRefusedError):
        return error.code.startswith((*_PASSING, _HTTP_SERVER_ERROR))
    return isinstance(error, NoAnswerError)


def patiently(
    call: Callable[[], A], again: Callable[[LocalKinesisError], bool], seconds: float
) -> A:
    """The answer, or the last error once it is none to ask again for or the time is over."""
    until, attempt = time.monotonic() + seconds, 0
    while True:
        try:
            return call()
        except LocalKinesisError as error:
            if not again(error) or time.monotonic() > until:
                raise
        time.sleep(pause(attempt))
        attempt += 1


def ask(wire: Wire, operation: str, **fields: object) -> dict[str, Any]:
    """The answer to a call that only reads."""
    return patiently(lambda: wire.call(operation, **fields), is_passing, FAULT_SECONDS)
