"""The settings of a local Kinesis."""

from __future__ import annotations

import re
from dataclasses import dataclass, field
from datetime import timedelta
from pathlib import Path
from typing import Literal, get_args

from spark_kinesis._options.values import ABSENT, duration, require, require_word

from .behaviour import Behaviour

Quotas = Literal["aws", "off", "window", "counting-window", "rolling", "smooth", "shared", "steps"]
Clock = Literal["system", "simulated"]
ConsumerLimit = Literal[20, 50]

_CONSUMERS, _MORE_CONSUMERS = 20, "50"
_HEAP = re.compile(r"[1-9]\d{0,5}[mg]", re.IGNORECASE)


@dataclass(frozen=True, kw_only=True, slots=True)
class ServerSettings:
    """How a local Kinesis behaves. ``LocalKinesis`` describes the fields."""

    quotas: Quotas = "off"
    persist: Path | None = None
    clock: Clock = "system"
    list_lag: timedelta | None = None
    change_time: timedelta | None = None
    consumer_limit: ConsumerLimit = 20
    heap: str = "1g"
    behaviour: Behaviour = field(default_factory=Behaviour)

    def __post_init__(self) -> None:
        """Check types and values, so that a mistake shows before the server starts.

        Raises:
            TypeError: for a field of a wrong type.
            ValueError: for a value that the server would refuse, or that could not work.
        """
        for name, words in (("quotas", Quotas), ("clock", Clock)):
            require(name, getattr(self, name), str)
            require_word(name, getattr(self, name), words)
        for name in ("list_lag", "change_time"):
            require(name, getattr(self, name), timedelta, ABSENT)
            _require_duration(name, getattr(self, name))
        require("consumer_limit", self.consumer_limit, int)
        if self.consumer_limit not in get_args(ConsumerLimit):
            raise ValueError(f"consumer_limit must be 20 or 50, not {self.consumer_limit}")
        require("behaviour", self.behaviour, Behaviour)
        require("heap", self.heap, str)
        if _HEAP.fullmatch(self.heap) is None:
            raise ValueError(f"heap must be a size such as 512m or 4g, not {self.heap!r}")
        if self.quotas != "off" and self.clock == "simulated":
            raise ValueError(
                f"quotas={self.quotas!r} and clock='simulated' exclude each other: quotas refill "
                "with time, and a simulated clock stands still. Choose one of the two"
            )

    def arguments(self) -> list[str]:
        """The arguments of the server. The heap is an argument of Java."""
        by_name = {
            "--quotas": None if self.quotas == "off" else self.quotas,
            "--persist": None if self.persist is None else str(self.persist.absolute()),
            "--clock": None if self.clock == "system" else self.clock,
            "--list-lag": duration("list_lag", self.list_lag),
            "--change-time": duration("change_time", self.change_time),
            "--consumer-limit": None if self.consumer_limit == _CONSUMERS else _MORE_CONSUMERS,
        }
        given = [(name, value) for name, value in by_name.items() if value is not None]
        return [word for pair in given for word in pair] + self.behaviour.arguments()


def _require_duration(name: str, value: timedelta | None) -> None:
    if value is not None and value < timedelta(0):
        raise ValueError(f"{name} must not be negative, not {value!r}")
    duration(name, value)
