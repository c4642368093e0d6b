"""What the commands that change positions share: they watch for an owner, and they ask."""

from __future__ import annotations

import sys
import time
from contextlib import contextmanager
from typing import TYPE_CHECKING, Any, TypeVar

import click

from spark_kinesis._errors import SparkKinesisError
from spark_kinesis.tools.cli import progress_bar, screen, to_stderr

if TYPE_CHECKING:
    from collections.abc import Callable, Iterable, Iterator

    from spark_kinesis.tools.facts.files import CheckpointFiles

Seen = TypeVar("Seen")
WATCH_SECONDS = 15.0

watch_option = click.option(
    "--watch",
    type=click.FloatRange(0),
    default=WATCH_SECONDS,
    show_default=True,
    help="seconds to watch whether something still runs there",
)
yes_option = click.option("--yes", "is_agreed", is_flag=True, help="do not ask")


def watched(look: Callable[[], Seen], seconds: float) -> Seen:
    """What a look shows after some seconds, in which a running owner would have changed it."""
    end = time.monotonic() + seconds
    with progress_bar() as bar:
        task = bar.add_task("looking for something that runs", total=seconds or None)
        while (left := end - time.monotonic()) > 0:
            time.sleep(min(left, 0.2))
            bar.update(task, completed=seconds - left)
    return look()


class _Advance:
    """Shows a progress. It ends before the command asks: both use the last line."""

    def __init__(self, bar: Any, title: str) -> None:
        self._bar, self._task = bar, bar.add_task(title, total=None)
        self.stop = bar.stop

    def __call__(self, done: int, total: int) -> None:
        self._bar.update(self._task, completed=done, total=total)


@contextmanager
def progress(title: str) -> Iterator[_Advance]:
    """A progress bar for a function that counts."""
    with progress_bar() as bar:
        yield _Advance(bar, title)


def show_plan(lines: Iterable[str], *, as_json: bool) -> None:
    """Show what would change, before the question. JSON has the standard output for itself."""
    for line in lines:
        (to_stderr if as_json else screen().print)(line)


def agree(question: str, written: CheckpointFiles | None = None, *, is_agreed: bool) -> None:
    """Ask on the terminal, after a warning about the store of the files to write.

    Raises:
        SparkKinesisError: without a terminal.
        click.exceptions.Exit: with code 1, if the user says no.
    """
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
