"""How a rate changes over time. The time comes from the caller, in seconds."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from math import cos, pi

NAMES = ("steady", "burst", "sine", "steps")
_BURST = 0.1  # part of a period that a burst takes
_STEPS = 4
_HALVINGS = 50


@dataclass(frozen=True, kw_only=True, slots=True)
class Shape:
    """A rate around its mean, which repeats itself.

    Attributes:
        name: ``steady``; ``burst``: high for the first tenth of each period; ``sine``: up and down;
            ``steps``: four steps up, and back.
        period: seconds after which it repeats itself.
        peak: highest rate, as a multiple of the mean. At most 10 for a burst, and 2 for the others.
    """

    name: str = "steady"
    period: float = 60.0
    peak: float = 1.0

    def __post_init__(self) -> None:
        """Check the numbers.

        Raises:
            ValueError: names the wrong option.
        """
        if self.name not in NAMES:
            raise ValueError(f"--shape must be one of {', '.join(NAMES)}, not {self.name!r}")
        if not 0 < self.period < float("inf"):
            raise ValueError(f"--period must be a number above 0, not {self.period}")
        largest = largest_peak(self.name)
        if not 1 <= self.peak <= largest:
            raise ValueError(
                f"--peak must be from 1 to {largest:g} for --shape {self.name}, not {self.peak}: "
                "the rest of the time makes up for it, and no rate is below 0"
            )

    def warp(self, time: float) -> float:
        """The time at which a steady rate has made as many records as this one at ``time``."""
        periods, inside = divmod(time / self.period, 1.0)
        return (periods + _WARPS[self.name](inside, self.peak)) * self.period

    def unwarp(self, steady: float) -> float:
        """The earliest time with this ``warp``."""
        periods, inside = divmod(steady / self.period, 1.0)
        low, high = 0.0, 1.0
        for _ in range(_HALVINGS):
            middle = (low + high) / 2
            if _WARPS[self.name](middle, self.peak) < inside:
                low = middle
            else:
                high = middle
        return (periods + (high if inside else 0.0)) * self.period


def largest_peak(name: str) -> float:
    """The highest multiple of the mean with which no rate is below 0."""
    return {"steady": 1.0, "burst": 1 / _BURST}.get(name, 2.0)


def usual_peak(name: str) -> float:
    """The multiple of the mean if the user names none."""
    return {"steady": 1.0, "burst": 5.0}.get(name, 1.8)


def _steady(part: float, _peak: float) -> float:
    return part


def _burst(part: float, peak: float) -> float:
    low = (1 - peak * _BURST) / (1 - _BURST)
    return peak * min(part, _BURST) + low * max(0.0, part - _BURST)


def _sine(part: float, peak: float) -> float:
    return part + (peak - 1) * (1 - cos(2 * pi * part)) / (2 * pi)


def _steps(part: float, peak: float) -> float:
    rates = [2 - peak + 2 * (peak - 1) * step / (_STEPS - 1) for step in range(_STEPS)]
    done = min(int(part * _STEPS), _STEPS - 1)
    return sum(rates[:done]) / _STEPS + rates[done] * (part - done / _STEPS)


_WARPS: dict[str, Callable[[float, float], float]] = {
    "steady": _steady,
    "burst": _burst,
    "sine": _sine,
    "steps": _steps,
}
