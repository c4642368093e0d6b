"""Calls that are repeated for a bounded time."""

from __future__ import annotations

import time
from collections.abc import Callable
from typing import TYPE_CHECKING, Any, TypeVar

from spark_kinesis._backoff import pause
from spark_kinesis._errors import KinesisRefusedError, LocalKinesisError, NoAnswerError

if TYPE_CHECKING:
    from .http_api import HttpApi

A = TypeVar("A")

RATE_SECONDS = 3.0  # limits of calls are per second
FAULT_SECONDS = 30.0

_THROTTLED = ("LimitExceededException", "ProvisionedThroughputExceededException")
_TRANSIENT = (*_THROTTLED, "KMSThrottlingException", "InternalFailure", "ServiceUnavailable")
_HTTP_SERVER_ERROR = "HTTP 5"


def is_throttled(error: LocalKinesisError) -> bool:
    """Whether a call came too soon after others. Such a call changes nothing."""
    return isinstance(error, KinesisRefusedError) and error.code in _THROTTLED


def is_transient(error: LocalKinesisError) -> bool:
    """Whether a call that only reads may succeed in a moment."""
    if isinstance(error, KinesisRefusedError):
        return error.code.startswith((*_TRANSIENT, _HTTP_SERVER_ERROR))
    return isinstance(error, NoAnswerError)


def with_retries(
    call: Callable[[], A], is_retryable: Callable[[LocalKinesisError], bool], seconds: float
) -> A:
    """Repeat a call until it succeeds, fails for good, or the time is over.

    Raises:
        LocalKinesisError: the last error.
    """
    until, attempt = time.monotonic() + seconds, 0
    while True:
        try:
            return call()
        except LocalKinesisError as error:
            if not is_retryable(error) or time.monotonic() > until:
                raise
        time.sleep(pause(attempt))
        attempt += 1


def ask(api: HttpApi, operation: str, **fields: object) -> dict[str, Any]:
    """The answer to a call that only reads."""
    return with_retries(lambda: api.call(operation, **fields), is_transient, FAULT_SECONDS)
