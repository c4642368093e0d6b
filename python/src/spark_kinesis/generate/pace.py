"""The time at which the next records are due. The time comes from the caller, in seconds."""

from __future__ import annotations

from dataclasses import dataclass, field, replace

from .shape import Shape

SLACK_SECONDS = 0.1
_REQUEST_RECORDS = 500
_REQUESTS_PER_SECOND = 10
_MICROSECOND = 1e-6


@dataclass(frozen=True, kw_only=True, slots=True)
class Pace:
    """A rate. After a delay, it catches up a tenth of a second at most.

    With a steady rate, in any ``t`` seconds, requests start for at most
    ``rate * (t + SLACK_SECONDS)`` records, and those of one more request.

    Attributes:
        rate: records per second on average, above 0.
        shape: how the rate changes over time.
        due: time at which a steady rate would start the next request.
    """

    rate: float
    shape: Shape = field(default_factory=Shape)
    due: float = 0.0

    def __post_init__(self) -> None:
        """Check the rate.

        Raises:
            ValueError: if it is not a finite number above 0.
        """
        if not 0 < self.rate < float("inf"):
            raise ValueError(f"--rate must be a number above 0, not {self.rate}")

    @property
    def batch(self) -> int:
        """The number of records per request: those of a tenth of a second, from 1 to 500."""
        return max(1, min(_REQUEST_RECORDS, int(self.rate / _REQUESTS_PER_SECOND)))

    def wait(self, now: float) -> float:
        """The seconds until the next request may start; 0 if less than a microsecond."""
        wait = self.shape.unwarp(self.due) - now
        return wait if wait >= _MICROSECOND else 0.0

    def after(self, now: float, records: int) -> Pace:
        """The pace after a request for this number of records."""
        earliest = self.shape.warp(now) - SLACK_SECONDS
        return replace(self, due=max(self.due, earliest) + records / self.rate)
