"""The work itself: make records, wait until they are due, write them."""

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
    """What to write.

    Attributes:
        template: of each record's data.
        keys: to choose a partition key from.
        pace: how fast.
        goal: how much.
        seed: of keys and data: the same records again, but for their times.
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
        now: seconds since some moment.
        sleep: waits so many seconds.
        date: the time that records carry.
    """

    now: Callable[[], float]
    sleep: Callable[[float], None]
    date: Callable[[], datetime]


def run(work: Work, writer: Writer, times: Times, progress: Progress) -> float:
    """Write until the goal is reached; how many seconds it took.

    Raises:
        GeneratorError: when Kinesis would not take the records.
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
    """So many records from a number on, fewer where a request cannot hold them; at least one."""
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
