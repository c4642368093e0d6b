"""How a source repeats calls that fail."""

from __future__ import annotations

from dataclasses import dataclass
from datetime import timedelta
from typing import Literal

from .values import ABSENT, duration, require, require_word

Unlimited = Literal["unlimited"]


@dataclass(frozen=True, kw_only=True, slots=True)
class RetryStrategy:
    """How a source repeats calls that fail while it reads a shard.

    Calls that a quota refused are repeated without a limit. A sink has ``delivery_timeout``.

    Attributes:
        timeout: how long calls to one shard may fail in a row until the query fails, at least 1 s,
            or ``"unlimited"``; default: 5 minutes. One call per 15 s of it must fail, at least 5
            and at most 21.
        base_delay: maximum pause after the first failure; default: 200 ms. The maximum doubles
            with each further failure, and the pause is random between 0 and the maximum.
        max_delay: largest maximum of a pause, at most 4 minutes; default: 10 s.
    """

    timeout: timedelta | Unlimited | None = None
    base_delay: timedelta | None = None
    max_delay: timedelta | None = None

    def __post_init__(self) -> None:
        """Check types.

        Raises:
            TypeError: if a field has a value of the wrong type. The message names the field.
            ValueError: if ``timeout`` is another string than ``"unlimited"``.
        """
        require("timeout", self.timeout, timedelta, str, ABSENT)
        if isinstance(self.timeout, str):
            require_word("timeout", self.timeout, Unlimited)
        for name in ("base_delay", "max_delay"):
            require(name, getattr(self, name), timedelta, ABSENT)

    def options(self) -> dict[str, str | None]:
        """The Spark options of this strategy.

        Raises:
            ValueError: if a duration is not a whole number of milliseconds.
        """
        limit = self.timeout
        return {
            "retryTimeout": limit if isinstance(limit, str) else duration("timeout", limit),
            "retryDelay": duration("base_delay", self.base_delay),
            "maxRetryDelay": duration("max_delay", self.max_delay),
        }
