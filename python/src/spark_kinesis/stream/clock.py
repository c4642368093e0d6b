"""The clock of the service, from the header ``Date`` of its answers."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from datetime import datetime, timedelta, timezone
from email.utils import parsedate_to_datetime
from typing import Any

from spark_kinesis._times import utc_now

_RESOLUTION = timedelta(seconds=1)  # of the header
_LEAST_SKEW = timedelta(seconds=2)


class ServiceClock:
    """Corrects the clock of this machine if it differs from that of the service."""

    def __init__(self, local: Callable[[], datetime] = utc_now) -> None:
        """Assume that both are the same, until an answer arrives.

        Args:
            local: returns the time of this machine.
        """
        self._local = local
        self.ahead: timedelta | None = None

    def now(self) -> datetime:
        """The time of the service, in UTC."""
        ahead = self.ahead or timedelta()
        return self._local() + (ahead if abs(ahead) >= _LEAST_SKEW else timedelta())

    def learn(self, headers: Mapping[str, str]) -> None:
        """Compare with the headers of an answer that has just arrived.

        ``ahead`` becomes the time by which the service's clock is ahead of this machine's, to about
        a second.
        """
        date = next((value for name, value in headers.items() if name.lower() == "date"), None)
        if date is None:
            return
        try:
            found = parsedate_to_datetime(date)
        except ValueError:
            return
        self.ahead = found.astimezone(timezone.utc) + _RESOLUTION / 2 - self._local()

    def follow(self, client: Any) -> None:
        """Learn from every answer to a client of boto3, also from refusals."""
        client.meta.events.register("after-call", self._after_call)

    def _after_call(self, http_response: Any, **_: object) -> None:
        self.learn(http_response.headers)
