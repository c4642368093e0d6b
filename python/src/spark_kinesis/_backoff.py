"""Pauses between attempts."""

from __future__ import annotations

import random
from collections.abc import Callable

FIRST_PAUSE_SECONDS, LONGEST_PAUSE_SECONDS = 0.05, 1.0
_LAST_DOUBLING = 10


def pause(attempt: int, chance: Callable[[], float] = random.random) -> float:
    """The seconds to wait after a failed attempt.

    The maximum doubles with each attempt, up to one second. The result is a random part of it.

    Args:
        attempt: number of the attempt, starting at 0.
        chance: returns a number from 0 to 1.
    """
    doubled = FIRST_PAUSE_SECONDS * float(2 ** min(attempt, _LAST_DOUBLING))
    return min(LONGEST_PAUSE_SECONDS, doubled) * chance()
