"""Follows an advice: asks, splits and merges, and says what was done."""

from __future__ import annotations

import random
import time
from collections.abc import Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING

import click

from spark_kinesis.cli import progress_bar, screen, to_stderr
from spark_kinesis.tools.facts.streams import StreamSummary, list_shards

from .apply import Reshard, Saved, Times, need_room
from .report import step_line
from .shards import HashRange, Merge, Step, all_steps

if TYPE_CHECKING:
    from mypy_boto3_kinesis import KinesisClient

    from .advice import Advice


@dataclass(frozen=True, kw_only=True, slots=True)
class Consent:
    """What the user said about the change.

    Attributes:
        is_given: whether to ask no more.
        save: file to write the advice to; ``None`` for none.
        resume: file to read the advice from; ``None`` to measure.
    """

    is_given: bool
    save: str | None
    resume: str | None


def saved_of(advice: Advice, summary: StreamSummary) -> Saved:
    """The part of an advice that can be continued."""
    layout = advice.layout
    return Saved(
        arn=summary.arn,
        created=summary.created,
        initial=tuple(it.first_key for it in advice.present),
        wanted=layout.starts if layout is not None else (),
    )


def change(client: KinesisClient, saved: Saved, consent: Consent) -> int:
    """Ask, and make the splits and merges. Returns the exit code: 1 if the user says no.

    Raises:
        SparkKinesisError: if the change fails. What was done is printed before.
        botocore.exceptions.ClientError: if a call fails. The same.
    """
    steps = _steps(client, saved)
    if not steps:
        screen().print("The stream has the wanted shards: nothing to do.")
        return 0
    need_room(steps, client.describe_limits())
    screen().print(f"\n{_counted(steps)}, one after the other. Each takes up to a minute on AWS.")
    if not consent.is_given and not _agrees():
        to_stderr("nothing was changed")
        return 1
    if consent.save is not None:
        saved.write(consent.save)
    _perform(client, saved, steps, consent)
    return 0


def _agrees() -> bool:
    """Ask. Without an answer, as in a script, it is no."""
    try:
        return click.confirm("Make these calls?", err=True)
    except click.Abort:
        to_stderr("\nno answer; --yes does not ask")
        return False


def _perform(client: KinesisClient, saved: Saved, steps: Sequence[Step], consent: Consent) -> None:
    work = Reshard(
        client,
        saved.arn,
        initial=saved.initial,
        wanted=saved.wanted,
        times=Times(sleep=time.sleep, chance=random.random),
    )
    with progress_bar() as bar:
        task = bar.add_task("resharding", total=len(steps))

        def told(step: Step) -> None:
            bar.update(task, completed=len(work.done), description=step_line(step))

        try:
            work.run(told)
        except BaseException:
            _tell_rest(work.done, steps, consent)
            raise
    screen().print(f"Done: {_counted(work.done)}.")


def _tell_rest(done: Sequence[Step], steps: Sequence[Step], consent: Consent) -> None:
    """What was done before a failure, and how to continue."""
    to_stderr(f"The change is not complete. Done: {len(done)} of {len(steps)} calls.")
    for step in done:
        to_stderr(f"  {step_line(step)}")
    file = consent.save or consent.resume
    to_stderr(
        f"To continue: --apply --resume {file}"
        if file
        else "To continue, run the command again: it measures again, and advises what is left."
    )


def _steps(client: KinesisClient, saved: Saved) -> list[Step]:
    present = [
        HashRange(id=it.id, first_key=it.first_key, last_key=it.last_key)
        for it in list_shards(client, saved.arn)
        if it.is_open
    ]
    return all_steps(present, saved.wanted)


def _counted(steps: Sequence[Step]) -> str:
    merges = sum(isinstance(it, Merge) for it in steps)
    splits = len(steps) - merges
    return f"{splits} {_word('split', splits)} and {merges} {_word('merge', merges)}"


def _word(name: str, count: int) -> str:
    return name if count == 1 else f"{name}s"
