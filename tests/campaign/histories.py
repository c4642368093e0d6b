"""Simulated histories of source and sink: the suites of `make test`, with new seeds only."""

from __future__ import annotations

import re
from functools import partial
from typing import TYPE_CHECKING

from tests.campaign.rounds import ROOT, Outcome, Part
from tests.campaign.scala import IS_SMALL, ScalaTests, compiling, failures

if TYPE_CHECKING:
    from pathlib import Path

SUITES = [
    "sparkkinesis.source.simulation.DeliverySimulation",
    "sparkkinesis.source.simulation.ReplaySimulation",
    "sparkkinesis.source.simulation.BatchReadSimulation",
    "sparkkinesis.source.simulation.realtime.RealTimeSimulation",
    "sparkkinesis.sink.simulation.SinkSimulation",
    "sparkkinesis.sink.simulation.once.OnceSimulation",
]
STORED = "tests/golden/seeds.txt"
SEEDS = 10 if IS_SMALL else 50  # of a round, for each kind of history: about a minute on two cores


def play(tests: ScalaTests, seed: int, folder: Path) -> Outcome:
    """Run every kind of history with some seeds."""
    environment = {
        "SPARK_KINESIS_TESTS": "campaign",
        "FIRST_SEED": str(seed),
        "SEEDS": str(SEEDS),
    }
    passed, output = tests.run(SUITES, environment, folder / "log", "-n", "sparkkinesis.Repeated")
    outcome = Outcome(
        counts={"histories": added(output, "histories"), "rows": added(output, "rows")},
        simulated_seconds=added(output, "simulated seconds"),
    )
    if not passed or not all(outcome.counts.values()):  # no tests are no success
        outcome.failure = failures(output)
        if found := first_failure(output):
            suite, number, steps = found
            of_test = f'project/sbt "integration/testOnly *{suite}"'
            outcome.repeat = f"SEED={number} {steps and f'STEPS={steps} '}{of_test}"
            line = f"{suite} {number} # " + (f"STEPS={steps}" if steps else "not shrunk")
            with (ROOT / STORED).open("a", encoding="utf-8") as seeds:
                seeds.write(line + "\n")
            outcome.failure += f"\n{STORED} has it now, and all later tests try it: {line}"
    return outcome


def added(output: str, what: str) -> int:
    """The sum of the numbers that the suites print before a word."""
    return sum(int(found) for found in re.findall(rf"(\d+) {what}\b(?! failed)", output))


def first_failure(output: str) -> tuple[str, str, str] | None:
    """Suite, seed and steps of the first history that failed. Steps are empty if not known."""
    suite = ""
    for line in output.splitlines():
        if named := re.match(r"^(\w+Simulation):", line):
            suite = named[1]
        if found := re.search(r"replay with SEED=(-?\d+)(?: STEPS=(\d+))?", line):
            return suite, found[1], found[2] or ""
    return None


HISTORIES = Part(
    "histories",
    "Simulated histories of source, real-time mode, replay, batch reads, sink and exactly once",
    partial(compiling, play),
    SEEDS,
)
