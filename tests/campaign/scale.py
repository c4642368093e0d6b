"""A thousand executors and ten thousand shards: the driver's real decisions, stubs of executors."""

from __future__ import annotations

import re
from functools import partial
from typing import TYPE_CHECKING

from tests.campaign.rounds import Outcome, Part
from tests.campaign.scala import ScalaTests, compiling, failures

if TYPE_CHECKING:
    from pathlib import Path

SUITE = "sparkkinesis.source.scale.ScaleSuite"
COUNTS = ("heartbeats", "batches")


def play(tests: ScalaTests, _seed: int, folder: Path) -> Outcome:
    """Run the large size. There is no chance in it, so every seed is the same."""
    passed, output = tests.run([SUITE], {"SPARK_KINESIS_TESTS": "campaign"}, folder / "log")
    lines = re.findall(r"^scale: (.+) = (.+)$", output, re.MULTILINE)
    found = {name: float(value) for name, value in lines}
    outcome = Outcome(
        counts={name: int(found.pop(name)) for name in COUNTS if name in found},
        samples={"recovery": [found.pop(name) for name in list(found) if "recovery" in name]},
        gauges=found,
        simulated_seconds=found.pop("simulated seconds", 0.0),
    )
    if not passed or outcome.counts.keys() != {*COUNTS} or not outcome.gauges:
        outcome.failure = failures(output)
    return outcome


SCALE = Part(
    "scale",
    "Runs the driver's decisions with 1,000 stubs of executors and 10,000 shards. Measures the CPU "
    "time of heartbeats and batches, and the time until the shards of 100 lost executors are read "
    "again",
    partial(compiling, play),
)
