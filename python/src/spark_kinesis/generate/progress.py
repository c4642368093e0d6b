"""The progress on standard error: a bar with rich, plain lines without it."""

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
    """When to stop. Without either, the generator stops at Ctrl-C.

    Attributes:
        count: number of records to write.
        seconds: time to write for.
    """

    count: int | None = None
    seconds: float | None = None

    def left(self, written: int, elapsed: float) -> int | None:
        """The number of records still to write; ``None`` for any number."""
        if self.seconds is not None and elapsed >= self.seconds:
            return 0
        return None if self.count is None else max(0, self.count - written)

    def done(self, written: int, elapsed: float) -> float | None:
        """The share of the work that is done, from 0 to 1; ``None`` if it has no end."""
        shares = [
            part / whole if whole else 1.0
            for part, whole in ((written, self.count), (elapsed, self.seconds))
            if whole is not None
        ]
        return min(1.0, max(shares)) if shares else None


class Progress(Protocol):
    """A display of the progress."""

    def show(self, tally: Tally, elapsed: float) -> None:
        """Show the current figures."""

    def close(self) -> None:
        """End the display."""


class Quiet:
    """Shows nothing."""

    def show(self, tally: Tally, elapsed: float) -> None:
        """Show nothing."""

    def close(self) -> None:
        """Does nothing."""


class Lines:
    """Prints a line every two seconds."""

    def __init__(self, goal: Goal) -> None:
        """Shows nothing yet."""
        self._goal = goal
        self._due = PLAIN_PERIOD_SECONDS

    def show(self, tally: Tally, elapsed: float) -> None:
        """Show the current figures if the next line is due."""
        if elapsed >= self._due:
            self._due = elapsed + PLAIN_PERIOD_SECONDS
            done = self._goal.done(tally.written, elapsed)
            share = "" if done is None else f"{done:4.0%}  "
            print(f"{share}{sentence(tally, elapsed)}", file=sys.stderr, flush=True)

    def close(self) -> None:
        """Does nothing."""


class Bar:
    """A bar with one line of figures."""

    def __init__(self, goal: Goal) -> None:
        """Start the display."""
        from rich.console import Console  # noqa: PLC0415 optional
        from rich.progress import BarColumn, Progress, TextColumn  # noqa: PLC0415

        self._goal = goal
        self._progress = Progress(
            BarColumn(), TextColumn("{task.description}"), console=Console(stderr=True)
        )
        self._task = self._progress.add_task("starting", total=None)
        self._progress.start()

    def show(self, tally: Tally, elapsed: float) -> None:
        """Show the current figures."""
        done = self._goal.done(tally.written, elapsed)
        self._progress.update(
            self._task,
            description=sentence(tally, elapsed),
            total=None if done is None else 1.0,
            completed=done or 0.0,
        )

    def close(self) -> None:
        """End the display, and leave the last figures visible."""
        self._progress.stop()


def open_progress(goal: Goal, *, quiet: bool) -> Progress:
    """The display for this standard error: a bar on a terminal, lines elsewhere."""
    if quiet:
        return Quiet()
    return Bar(goal) if sys.stderr.isatty() and find_spec("rich") else Lines(goal)


def sentence(tally: Tally, elapsed: float) -> str:
    """The figures in one line."""
    rate = tally.written / elapsed if elapsed > 0 else 0.0
    return (
        f"{tally.written} written, {tally.throttled} throttled, {tally.retried} retried "
        f"in {elapsed:.1f} s ({rate:.0f} records/s)"
    )
