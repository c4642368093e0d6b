"""The clock of a local Kinesis, and waiting by it."""

from __future__ import annotations

import time
from collections.abc import Callable
from datetime import datetime, timezone
from typing import TYPE_CHECKING, Any

from spark_kinesis._errors import LocalKinesisError

if TYPE_CHECKING:
    from .http_api import HttpApi

_PATH = "/_simulator/clock"
_WAIT_SECONDS, _POLL_SECONDS, _STEP_SECONDS = 60.0, 0.15, 0.1


def now(api: HttpApi) -> datetime:
    """The time of the server's clock, in UTC."""
    return _instant(api.admin("GET", _PATH))


def advance(api: HttpApi, seconds: float) -> datetime:
    """Move the clock forward. Returns the new time, in UTC."""
    return _instant(api.admin("POST", _PATH, {"advance": seconds}))


def wait_until(api: HttpApi, condition: Callable[[], bool], complaint: str) -> None:
    """Wait until the server has done something. A clock that stands still is moved meanwhile.

    On a simulated clock no time passes by itself, so that what takes time would never be done.

    Raises:
        LocalKinesisError: after 60 s, with the complaint.
    """
    until, is_standing = time.monotonic() + _WAIT_SECONDS, False
    while not condition():
        if time.monotonic() > until:
            raise LocalKinesisError(f"{complaint} after {_WAIT_SECONDS:.0f} s")
        if not is_standing:
            before = now(api)
            time.sleep(_POLL_SECONDS)
            is_standing = now(api) == before
        if is_standing:
            advance(api, _STEP_SECONDS)


def _instant(answer: dict[str, Any]) -> datetime:
    return datetime.fromtimestamp(answer["now"], timezone.utc)
