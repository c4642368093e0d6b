"""The clock of the service, from the header ``Date`` of its answers."""

from __future__ import annotations

from datetime import datetime, timedelta, timezone
from email.utils import parsedate_to_datetime
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from collections.abc import Callable, Mapping

_HALF_A_SECOND = timedelta(milliseconds=500)  # the header has whole seconds


def utc_now() -> datetime:
    """The time of this machine."""
    return datetime.now(timezone.utc)


class ServerClock:
    """The time at the service. Before the first answer it is the time of this machine."""

    def __init__(self, local: Callable[[], datetime] = utc_now) -> None:
        """Know nothing about the service yet.

        Args:
            local: returns the time of this machine.
        """
        self._local = local
        self.ahead: timedelta | None = None

    def now(self) -> datetime:
        """The time at the service, to about a second."""
        return self._local() + (self.ahead or timedelta())

    def learn(self, headers: Mapping[str, str]) -> None:
        """Take the time from the headers of an answer that has just arrived.

        ``ahead`` becomes the time by which the service's clock is ahead of this machine's.
        """
        date = next((value for name, value in headers.items() if name.lower() == "date"), None)
        if date is None:
            return
        try:
            found = parsedate_to_datetime(date)
        except ValueError:
            return
        self.ahead = found.astimezone(timezone.utc) + _HALF_A_SECOND - self._local()

    def attach(self, client: Any) -> None:
        """Learn from every answer to a client of boto3, also from refusals."""
        client.meta.events.register("after-call", self._after_call)

    def _after_call(self, http_response: Any, **_: object) -> None:
        self.learn(http_response.headers)
