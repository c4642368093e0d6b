"""What a viewer sees of the writing, on standard error: a bar with rich, plain lines without."""

from __future__ import annotations

import sys
from dataclasses import dataclass
from importlib.util import find_spec
from typing import TYPE_CHECKING, Protocol

if TYPE_CHECKING:
    from .writer import Tally

PLAIN_PERIOD_SECONDS = 2.0


@dataclass(frozen=True, kw_only=True, slots=True)
class Goal:
    """When to stop; with neither, when interrupted.

    Attributes:
        count: after so many records.
        seconds: after so long.
    """

    count: int | None = None
    seconds: float | None = None

    def left(self, written: int, elapsed: float) -> int | None:
        """How many records may still be written; ``None`` for any number."""
        if self.seconds is not None and elapsed >= self.seconds:
            return 0
        return None if self.count is None else max(0, self.count - written)

    def done(self, written: int, elapsed: float) -> float | None:
        """The share of the work that is done, 0 to 1; ``None`` when it has no end."""
        shares = [
            part / whole if whole else 1.0
            for part, whole in ((written, self.count), (elapsed, self.seconds))
            if whole is not None
        ]
        return min(1.0, max(shares)) if shares else None


class Progress(Protocol):
    """Where the writing is shown."""

    def show(self, tally: Tally, elapsed: float) -> None:
        """How things are now."""

    def close(self) -> None:
        """Nothing more will be shown."""


class Quiet:
    """Shows nothing."""

    def show(self, tally: Tally, elapsed: float) -> None:
        """Say nothing."""

    def close(self) -> None:
        """Nothing to tidy."""


class Lines:
    """A line every two seconds."""

    def __init__(self, goal: Goal) -> None:
        """Nothing shown yet."""
        self._goal = goal
        self._due = PLAIN_PERIOD_SECONDS

    def show(self, tally: Tally, elapsed: float) -> None:
        """How things are now, if it is time."""
        if elapsed >= self._due:
            self._due = elapsed + PLAIN_PERIOD_SECONDS
            done = self._goal.done(tally.written, elapsed)
            share = "" if done is None else f"{done:4.0%}  "
            print(f"{share}{sentence(tally, elapsed)}", file=sys.stderr, flush=True)

    def close(self) -> None:
        """Nothing to tidy."""


class Bar:
    """One line that changes in place."""

    def __init__(self, goal: Goal) -> None:
        """Begin to show."""
        from rich.console import Console  # noqa: PLC0415 optional
        from rich.progress import BarColumn, Progress, TextColumn  # noqa: PLC0415

        self._goal = goal
        self._progress = Progress(
            BarColumn(), TextColumn("{task.description}"), console=Console(stderr=True)
        )
        self._task = self._progress.add_task("starting", total=None)
        self._progress.start()

    def show(self, tally: Tally, elapsed: float) -> None:
        """How things are now."""
        done = self._goal.done(tally.written, elapsed)
        self._progress.update(
            self._task,
            description=sentence(tally, elapsed),
            total=None if done is None else 1.0,
            completed=done or 0.0,
        )

    def close(self) -> None:
        """Leave the last picture standing."""
        self._progress.stop()


def open_progress(goal: Goal, *, quiet: bool) -> Progress:
    """The one that fits where the output goes."""
    if quiet:
        return Quiet()
    return Bar(goal) if sys.stderr.isatty() and find_spec("rich") else Lines(goal)


def sentence(tally: Tally, elapsed: float) -> str:
    """Where things stand, in one line."""
    rate = tally.written / elapsed if elapsed > 0 else 0.0
    return (
        f"{tally.written} written, {tally.throttled} throttled, {tally.retried} retried "
        f"in {elapsed:.1f} s ({rate:.0f} records/s)"
    )
