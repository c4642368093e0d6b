"""The loop: make records, wait until they are due, write them."""

from __future__ import annotations

import random
from collections.abc import Callable
from dataclasses import dataclass
from datetime import datetime
from typing import TYPE_CHECKING

from .template import Moment, Template

if TYPE_CHECKING:
    from .keys import Keys
    from .pace import Pace
    from .progress import Goal, Progress
    from .writer import Entry, Writer

FRAME_SECONDS = 0.5
REQUEST_BYTES = 5 * 1024 * 1024


@dataclass(frozen=True, kw_only=True, slots=True)
class Work:
    """The records to write.

    Attributes:
        template: data of a record.
        keys: partition keys to choose from.
        pace: records per second.
        goal: when to stop.
        seed: seed of keys and data. The same seed makes the same records, except their times.
    """

    template: Template
    keys: Keys
    pace: Pace
    goal: Goal
    seed: int


@dataclass(frozen=True, kw_only=True, slots=True)
class Times:
    """The clocks.

    Attributes:
        now: returns seconds of a monotonic clock.
        sleep: waits for a number of seconds.
        date: returns the time to put into records.
    """

    now: Callable[[], float]
    sleep: Callable[[float], None]
    date: Callable[[], datetime]


def run(work: Work, writer: Writer, times: Times, progress: Progress) -> float:
    """Write until the goal is reached. Returns how many seconds that took.

    Raises:
        GeneratorError: if Kinesis does not accept the records.
    """
    chance = random.Random(work.seed)  # noqa: S311 made-up records, the same for a seed
    begun, pace, made = times.now(), work.pace, 0
    while True:
        elapsed = times.now() - begun
        progress.show(writer.tally, elapsed)
        left = work.goal.left(made, elapsed)
        if left == 0:
            return elapsed
        wait = pace.wait(elapsed)
        if wait > 0:
            times.sleep(min(wait, FRAME_SECONDS))
            continue  # the goal may have been reached meanwhile
        size = pace.batch if left is None else min(left, pace.batch)
        batch = make(work, made, size, times.date(), chance)
        pace, made = pace.after(elapsed, len(batch)), made + len(batch)
        writer.write(batch)


def make(work: Work, first: int, count: int, date: datetime, chance: random.Random) -> list[Entry]:
    """Make records from a number on: as many as fit into a request, at least one."""
    entries: list[Entry] = []
    size = 0
    for number in range(first, first + count):
        key = work.keys.choose(chance)
        data = work.template.render(Moment(number=number, key=key, now=date), chance).encode()
        entries.append((key, data))
        size += len(key) + len(data)
        if size + len(key) + len(data) > REQUEST_BYTES:
            break
    return entries
