"""When the next records are due. Decides only; the time is given, in seconds."""

from __future__ import annotations

from dataclasses import dataclass, replace

SLACK_SECONDS = 0.1
_REQUEST_RECORDS = 500
_REQUESTS_PER_SECOND = 10
_MICROSECOND = 1e-6


@dataclass(frozen=True, kw_only=True, slots=True)
class Pace:
    """A steady rate. Time that was lost is not caught up, but for a tenth of a second.

    Over any ``t`` seconds no more than ``rate * (t + SLACK_SECONDS)`` records and those of one
    request begin to be written.

    Attributes:
        rate: records a second, above 0.
        due: when the next may be written.
    """

    rate: float
    due: float = 0.0

    def __post_init__(self) -> None:
        """Check the rate.

        Raises:
            ValueError: when it is not above 0, or no finite number.
        """
        if not 0 < self.rate < float("inf"):
            raise ValueError(f"--rate must be a number above 0, not {self.rate}")

    @property
    def batch(self) -> int:
        """Records of a request: those of a tenth of a second, 1 to 500."""
        return max(1, min(_REQUEST_RECORDS, int(self.rate / _REQUESTS_PER_SECOND)))

    def wait(self, now: float) -> float:
        """Seconds until the next may be written; less than a microsecond is nothing."""
        wait = self.due - now
        return wait if wait >= _MICROSECOND else 0.0

    def after(self, now: float, records: int) -> Pace:
        """The pace once so many have been written, not before they were due."""
        return replace(self, due=max(self.due, now - SLACK_SECONDS) + records / self.rate)
