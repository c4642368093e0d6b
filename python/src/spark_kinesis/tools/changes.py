"""What the commands that change positions share: they plan, show, ask, and watch for an owner."""

from __future__ import annotations

import sys
import time
from abc import ABC, abstractmethod
from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager
from dataclasses import dataclass, fields
from functools import wraps
from typing import TYPE_CHECKING, Any, TypeVar

import click

from spark_kinesis._errors import CheckpointError, SparkKinesisError
from spark_kinesis._offsets import Progress, ShardOffset, stream_names
from spark_kinesis._times import instant, utc_now
from spark_kinesis.tools.cli import (
    DURATION,
    FORMS,
    Value,
    connection_options,
    progress_bar,
    read_time,
    screen,
    storage_option,
    to_stderr,
)

if TYPE_CHECKING:
    from spark_kinesis.tools.facts.checkpoints import Checkpoint, LogState
    from spark_kinesis.tools.facts.files import CheckpointFiles
    from spark_kinesis.tools.facts.streams import Advance

Seen = TypeVar("Seen")
Result = TypeVar("Result")
LOSS = 1
WATCH_SECONDS = 15.0

yes_option = click.option("--yes", "is_agreed", is_flag=True, help="do not ask")


LATEST = ShardOffset(progress=Progress.AT)
"""The time at which the command plans, by the clock of the service."""


def read_target(text: str) -> ShardOffset:
    """The position that a text means.

    Args:
        text: ``latest``, ``trim_horizon`` or ``earliest``, or a time.
    """
    word = text.strip().lower()
    if word == "latest":
        return LATEST
    if word in ("trim_horizon", "earliest"):
        return ShardOffset(progress=Progress.TRIM_HORIZON)
    try:
        return ShardOffset(progress=Progress.AT, time=instant(read_time(text, utc_now())))
    except ValueError:
        raise ValueError(f"{text!r} is not trim_horizon, latest, or {FORMS}") from None


POSITION = Value("position", read_target)


@dataclass(frozen=True, kw_only=True)
class ShardPlan:
    """What a change does to a shard of a stream."""

    arn: str
    shard: str
    words: str
    loss: str | None = None  # what is lost or may be lost, without a period


@dataclass(frozen=True, kw_only=True)
class Plan(ABC):
    """A change of positions, and later what was done."""

    shards: Sequence[ShardPlan]  # what happens to each shard
    notes: Sequence[str] = ()  # what else to know
    is_done: bool = False  # whether the positions were changed

    @property
    @abstractmethod
    def undo(self) -> str:
        """What to do to take it back."""

    @property
    def lines(self) -> list[str]:
        """The plan for people."""
        names = stream_names({it.arn for it in self.shards})
        lost = {it: "" if it.loss is None else f"LOST: {it.loss}. " for it in self.shards}
        lines = [f"{names[it.arn]} {it.shard}: {loss}{it.words}" for it, loss in lost.items()]
        return [*lines, *self.notes]

    @property
    def losses(self) -> list[str]:
        """What is lost or may be lost, one sentence per shard."""
        found = (it for it in self.shards if it.loss is not None)
        return [f"Stream {it.arn}, {it.shard}: {it.loss}." for it in found]

    def is_approved(
        self, approve: Callable[[Any], bool], error: type[SparkKinesisError], *, allow_loss: bool
    ) -> bool:
        """Whether to carry it out. A loss that nobody allowed is an error."""
        if not approve(self):
            return False
        if self.losses and not allow_loss:
            raise error(" ".join([*self.losses, "Nothing was changed."]))
        return True


@dataclass(frozen=True, kw_only=True)
class Consent:
    """What the user allows, from the options of ``change_options``."""

    allow_loss: bool
    watch: float  # seconds
    is_agreed: bool
    dry_run: bool

    def to(self, plan: Plan, question: str, written: CheckpointFiles | None = None) -> bool:
        """Show a plan, and ask."""
        for line in plan.lines:
            screen().print(line)
        if plan.losses and not self.allow_loss:
            to_stderr(
                "Records are lost. To continue with the records that are left, set "
                "--allow-data-loss. Then the query does not report this loss."
            )
        elif not self.dry_run:
            agree(question, written, is_agreed=self.is_agreed)
            return True
        return False

    def end(self, plan: Plan, said: str) -> int:
        """Say what was done, and how to undo it. Returns the exit code."""
        nothing = "Nothing was changed." if plan.shards else "There is nothing to move."
        screen().print(f"{said} To undo it: {plan.undo}." if plan.is_done else nothing)
        return LOSS if plan.losses and not self.allow_loss else 0


_OPTIONS = (
    click.option(
        "--allow-data-loss",
        "allow_loss",
        is_flag=True,
        help="go on although unread records have expired, or may have",
    ),
    click.option(
        "--watch",
        type=DURATION,
        default=f"{WATCH_SECONDS:g}s",
        show_default=True,
        callback=lambda _context, _option, time: time.total_seconds(),
        help="how long to watch whether something still runs there",
    ),
    yes_option,
    click.option("--dry-run", is_flag=True, help="only show the plan"),
)


def change_options(command: Callable[..., Result]) -> Callable[..., Result]:
    """Add the options of a change: they are the arguments ``consent`` and ``connection``."""

    @wraps(command)
    def with_consent(**options: Any) -> Result:
        consent = Consent(**{it.name: options.pop(it.name) for it in fields(Consent)})
        return command(consent=consent, **options)

    for add in reversed(_OPTIONS):
        with_consent = add(with_consent)
    return storage_option(connection_options(with_consent))


def agree(question: str, written: CheckpointFiles | None = None, *, is_agreed: bool) -> None:
    """Ask on the terminal, after a warning about the store of the files to write."""
    if written is not None and written.doubt is not None:
        to_stderr(written.doubt)
    if is_agreed:
        return
    if not sys.stdin.isatty():
        raise SparkKinesisError(
            "nothing was changed, because there is no terminal to ask. If the plan is right, run "
            "the command again with --yes."
        )
    if not click.confirm(question, err=True):
        to_stderr("Nothing was changed.")
        raise click.exceptions.Exit(1)


def watched(look: Callable[[], Seen], seconds: float) -> Seen:
    """What a look shows after some seconds, in which a running owner would have changed it."""
    if seconds:
        to_stderr(f"Watching for {seconds:g} s whether something still runs there.")
        time.sleep(seconds)
    return look()


def watch_query(checkpoint: Checkpoint, before: LogState, seconds: float = 0) -> None:
    """Refuse a query that has planned or completed a micro-batch since its state was read."""
    if watched(checkpoint.state, seconds) != before:
        raise CheckpointError(
            f"the query of the checkpoint {checkpoint.location} is running: it has planned or "
            "completed a micro-batch while the command worked. Stop it, and run the command again."
        )


@contextmanager
def progress(title: str) -> Iterator[Advance]:
    """A progress bar for a function that counts."""
    with progress_bar() as bar:
        task = bar.add_task(title, total=None)
        yield lambda done, total: bar.update(task, completed=done, total=total)
