"""The clock of the service, by which lags are measured."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from datetime import datetime, timedelta, timezone
from email.utils import parsedate_to_datetime
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from mypy_boto3_kinesis import KinesisClient

# An answer names its time without a fraction of a second.
_RESOLUTION = timedelta(seconds=1)
_LEAST_SKEW = timedelta(seconds=2)


def system_now() -> datetime:
    """The time of this machine, in UTC."""
    return datetime.now(timezone.utc)


class ServiceClock:
    """Corrects the clock of this machine if it differs from that of the service."""

    def __init__(self, now: Callable[[], datetime] = system_now) -> None:
        """Assume that both are the same, until an answer arrives."""
        self._now = now
        self._skew = timedelta()

    def follow(self, client: KinesisClient) -> None:
        """Compare with the answers that a client receives from now on."""
        client.meta.events.register("after-call.kinesis", self._note)

    def now(self) -> datetime:
        """The time of the service, in UTC."""
        return self._now() + self._skew

    def note(self, headers: Mapping[str, str]) -> None:
        """Compare with the headers of an answer that has just arrived."""
        text = headers.get("date")
        if text is None:
            return
        skew = parsedate_to_datetime(text) + _RESOLUTION / 2 - self._now()
        self._skew = skew if abs(skew) >= _LEAST_SKEW else timedelta()

    def _note(self, parsed: Mapping[str, Any], **_: object) -> None:
        self.note(parsed.get("ResponseMetadata", {}).get("HTTPHeaders", {}))
