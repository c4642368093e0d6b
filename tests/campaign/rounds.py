"""A part of the campaign, its rounds, and the file that keeps them.

Each round is one line of JSON in `target/campaign/<part>.jsonl`. The next round, also of a later
run, begins with the seed after the last one.
"""

from __future__ import annotations

import json
from collections.abc import Callable
from contextlib import AbstractContextManager
from dataclasses import asdict, dataclass, field
from pathlib import Path
from typing import Any

ROOT = Path(__file__).resolve().parents[2]
FOLDER = ROOT / "target" / "campaign"
SHOWN_LINES = 60  # of the output of a failed round
ROUND_SECONDS = 3600.0  # limit of a round, or of a program in it


@dataclass
class Outcome:
    """The result of one round.

    `counts` are added over all rounds. `samples` are durations in seconds, of which the page shows
    percentiles. `gauges` are values at the end of a round, which the page shows over the rounds.
    """

    counts: dict[str, int] = field(default_factory=dict)
    samples: dict[str, list[float]] = field(default_factory=dict)
    gauges: dict[str, float] = field(default_factory=dict)
    simulated_seconds: float = 0.0
    failure: str = ""
    """The last lines of the output, or empty if the round passed."""
    repeat: str = ""
    """The command that repeats the failure."""


Play = Callable[[int, Path], Outcome]
"""Runs a round with a seed, in an empty folder. An exception is a failure, too."""


@dataclass(frozen=True)
class Part:
    """A kind of test that can run for hours."""

    name: str
    subject: str
    """What a round does: a phrase of the page."""
    opened: Callable[[], AbstractContextManager[Play]]
    """Prepares what all rounds of a run share, such as a server."""
    seeds: int = 1
    """Number of seeds that a round uses, from its first seed on."""


@dataclass(frozen=True)
class Round:
    """A line of the file."""

    part: str
    seed: int
    seeds: int
    commit: str
    date: str
    machine: str
    wall_seconds: float
    outcome: Outcome

    @property
    def last_seed(self) -> int:
        """The last seed that the round used."""
        return self.seed + self.seeds - 1


def rounds_of(part: str, folder: Path) -> list[Round]:
    """All rounds of a part that a folder keeps."""
    file = file_of(part, folder)
    if not file.exists():
        return []
    lines = map(json.loads, file.read_text(encoding="utf-8").splitlines())
    return [Round(**{**line, "outcome": Outcome(**line["outcome"])}) for line in lines]


def keep(it: Round, folder: Path) -> None:
    """Append a round to the file of its part."""
    folder.mkdir(parents=True, exist_ok=True)
    line: dict[str, Any] = asdict(it)
    with file_of(it.part, folder).open("a", encoding="utf-8") as file:
        file.write(json.dumps(line) + "\n")


def file_of(part: str, folder: Path) -> Path:
    """The file that keeps the rounds of a part."""
    return folder / f"{part}.jsonl"


def last_lines(output: str) -> str:
    """The end of an output, for `Outcome.failure`."""
    return "\n".join(output.splitlines()[-SHOWN_LINES:])
