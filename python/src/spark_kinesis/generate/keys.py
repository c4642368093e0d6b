"""Which partition key a record gets. Decides only; chance is given."""

from __future__ import annotations

import random
from dataclasses import dataclass


@dataclass(frozen=True, kw_only=True, slots=True)
class Keys:
    """``key-0`` to ``key-<count - 1>``, the first of them hot.

    Attributes:
        count: how many keys, at least 1.
        hot: how many of them are hot, fewer than all.
        hot_share: the share of records that the hot keys have together, 0 to 1. Within hot keys,
            and within the others, each key is as likely as another.
    """

    count: int
    hot: int = 0
    hot_share: float = 0.0

    def __post_init__(self) -> None:
        """Check the numbers.

        Raises:
            ValueError: naming the option that is wrong.
        """
        if self.count < 1:
            raise ValueError(f"--keys must be at least 1, not {self.count}")
        if not 0 <= self.hot < self.count:
            raise ValueError(f"--hot-keys must be 0 to {self.count - 1} of --keys, not {self.hot}")
        if not 0 <= self.hot_share <= 1:
            raise ValueError(f"--hot-share must be 0 to 1, not {self.hot_share}")
        if (self.hot > 0) != (self.hot_share > 0):
            raise ValueError("--hot-keys and --hot-share belong together: give both or none")

    def choose(self, chance: random.Random) -> str:
        """The key of one more record."""
        is_hot = self.hot > 0 and chance.random() < self.hot_share
        number = chance.randrange(self.hot) if is_hot else chance.randrange(self.hot, self.count)
        return f"key-{number}"
