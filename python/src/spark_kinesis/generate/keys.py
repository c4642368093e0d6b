"""The choice of a partition key. Random numbers come from the caller."""

from __future__ import annotations

import random
from dataclasses import dataclass


@dataclass(frozen=True, kw_only=True, slots=True)
class Keys:
    """``key-0`` to ``key-<count - 1>``, the first of them hot.

    Attributes:
        count: number of keys, at least 1.
        hot: number of hot keys, less than ``count``.
        hot_share: share of the records that all hot keys have together, from 0 to 1. All hot keys
            are equally likely, and so are all other keys.
    """

    count: int
    hot: int = 0
    hot_share: float = 0.0

    def __post_init__(self) -> None:
        """Check the numbers.

        Raises:
            ValueError: names the wrong option.
        """
        if self.count < 1:
            raise ValueError(f"--keys must be at least 1, not {self.count}")
        if not 0 <= self.hot < self.count:
            raise ValueError(
                f"--hot-keys must be less than --keys, from 0 to {self.count - 1}, not {self.hot}"
            )
        if not 0 <= self.hot_share <= 1:
            raise ValueError(f"--hot-share must be from 0 to 1, not {self.hot_share}")
        if (self.hot > 0) != (self.hot_share > 0):
            raise ValueError("--hot-keys and --hot-share belong together: set both or neither")

    def choose(self, chance: random.Random) -> str:
        """The key of the next record."""
        is_hot = self.hot > 0 and chance.random() < self.hot_share
        number = chance.randrange(self.hot) if is_hot else chance.randrange(self.hot, self.count)
        return f"key-{number}"
