"""Events per second, by level and by service."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from log_processing.progress import Progress

SHOWN_SECONDS = 300
MOST_SERIES = 8
OTHERS = "(other)"
# The most severe level is at the bottom of the stack, where its changes are seen best.
SEVERITY = ("FATAL", "CRITICAL", "ERROR", "WARN", "WARNING", "INFO", "DEBUG", "TRACE")


@dataclass(frozen=True)
class Series:
    """The events per second of one level or service."""

    name: str
    counts: list[int]


@dataclass(frozen=True)
class Rates:
    """Events per second of arrival.

    Attributes:
        seconds: seconds since 1970, without a gap.
        totals: number of events in each of them.
    """

    seconds: list[int]
    totals: list[int]
    levels: list[Series]
    services: list[Series]


def rates(batches: Iterable[Progress], *, start: int) -> Rates:
    """Count the events that arrived at ``start`` or later, per second."""
    levels: dict[str, Counter[int]] = {}
    services: dict[str, Counter[int]] = {}
    totals: Counter[int] = Counter()
    for batch in batches:
        for second, service, level, count in batch.seconds:
            if second >= start:
                levels.setdefault(level.upper(), Counter())[second] += count
                services.setdefault(service, Counter())[second] += count
                totals[second] += count
    seconds = list(range(min(totals), max(totals) + 1)) if totals else []
    return Rates(
        seconds=seconds,
        totals=[totals[second] for second in seconds],
        levels=sorted(series(levels, seconds), key=lambda it: severity(it.name)),
        services=series(services, seconds),
    )


def series(groups: dict[str, Counter[int]], seconds: Sequence[int]) -> list[Series]:
    """One series per group, by name. The smallest groups together are the last series."""
    named = [name for name in groups if name != OTHERS]
    largest = sorted(named, key=lambda name: (-sum(groups[name].values()), name))
    kept = largest if len(groups) <= MOST_SERIES else largest[: MOST_SERIES - 1]
    found = [Series(name, [groups[name][it] for it in seconds]) for name in sorted(kept)]
    rest = groups.keys() - set(kept)
    if rest:
        found.append(Series(OTHERS, [sum(groups[name][it] for name in rest) for it in seconds]))
    return found


def severity(level: str) -> int:
    """The place of a level in the stack. Unknown levels come after all others."""
    if level == OTHERS:
        return len(SEVERITY) + 1
    return SEVERITY.index(level) if level in SEVERITY else len(SEVERITY)
