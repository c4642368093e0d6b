"""Whether the figures of the page are live, old or missing, in words."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from log_processing.progress import Progress

LIVE, STALE, EMPTY, FAILED = "live", "stale", "empty", "failed"
SHORTEST_SILENCE_SECONDS = 10.0
# A job that has missed this many batches in a row is worth a warning.
MISSED_BATCHES = 3


@dataclass(frozen=True)
class State:
    """The state of the page.

    Attributes:
        name: ``live``, ``stale``, ``empty`` or ``failed``.
        words: what the page says about it.
    """

    name: str
    words: str


def state(batches: Sequence[Progress], *, now: float, failure: str | None) -> State:
    """The state that the page shows.

    Args:
        batches: sorted by time.
        now: seconds since 1970.
        failure: why the table could not be read just now.
    """
    if failure is not None:
        return State(FAILED, failure)
    if not batches:
        return State(EMPTY, "Waiting for the first batch.")
    silence = max(0.0, now - batches[-1].time / 1000)
    if silence > longest_silence(batches):
        reasons = "The job has stopped, or no events arrive. These figures are out of date."
        return State(STALE, f"No batch for {silence:.0f} s. {reasons}")
    return State(LIVE, "Live.")


def longest_silence(batches: Sequence[Progress]) -> float:
    """The seconds without a batch after which the figures are out of date."""
    times = [batch.time / 1000 for batch in batches]
    gaps = sorted(later - earlier for earlier, later in zip(times, times[1:]))
    usual = gaps[len(gaps) // 2] if gaps else 0.0
    return max(SHORTEST_SILENCE_SECONDS, MISSED_BATCHES * usual)
