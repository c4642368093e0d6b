"""Time and random numbers, which tests replace."""

from __future__ import annotations

import random
import time
from dataclasses import dataclass
from typing import Callable


@dataclass(frozen=True)
class Clock:
    """What retries need of the world.

    Attributes:
        now: returns seconds of a monotonic clock.
        sleep: waits for a number of seconds.
        random: returns a number from 0 to 1.
    """

    now: Callable[[], float]
    sleep: Callable[[float], None]
    random: Callable[[], float]


SYSTEM_CLOCK = Clock(now=time.monotonic, sleep=time.sleep, random=random.random)


def now_ms() -> int:
    """The time in milliseconds since 1970."""
    return time.time_ns() // 1_000_000
