"""Hostile inputs for what reads bytes and text: the property tests of `make test`, but longer."""

from __future__ import annotations

import re
import sys
from functools import partial
from typing import TYPE_CHECKING

from tests.campaign.histories import added
from tests.campaign.rounds import Outcome, Part, last_lines
from tests.campaign.scala import IS_SMALL, ScalaTests, compiling, ended, failures

if TYPE_CHECKING:
    from pathlib import Path

PROPERTIES = [
    f"sparkkinesis.{suite}"
    for suite in (
        "model.aggregate.AggregatedMessageSuite",
        "model.aggregate.AggregateReaderSuite",
        "client.aws.wire.EventDecoderSuite",
        "client.aws.wire.EventMessagesSuite",
        "client.aws.wire.GetRecordsDecoderLawSuite",
        "client.aws.wire.GetRecordsDecoderSuite",
        "client.aws.wire.PutRecordsDecoderSuite",
        "source.checkpoint.OffsetCodecSuite",
        "spark.payload.AvroSuite",
        "spark.payload.HostileBytesSuite",
        "spark.payload.InflateSuite",
        "spark.payload.JsonSuite",
    )
]
HTTP = "sparkkinesis.simulator.http.fuzz.HttpFuzzSuite"
INPUTS = 500 if IS_SMALL else 5_000  # of each property in Scala, at least
EXAMPLES = 200 if IS_SMALL else 500  # of each property in Python
SEEDS = 2 if IS_SMALL else 10  # of 2,000 HTTP requests each


def play(tests: ScalaTests, seed: int, folder: Path) -> Outcome:
    """Run the properties, the HTTP requests, and the properties in Python."""
    properties = tests.run(
        PROPERTIES,
        {"INPUTS": str(INPUTS)},
        folder / "properties.log",
        *("-n", "sparkkinesis.Fuzzed", "-S", str(seed)),
    )
    http = tests.run(
        [HTTP],
        {"SPARK_KINESIS_TESTS": "campaign", "FIRST_SEED": str(seed), "SEEDS": str(SEEDS)},
        folder / "http.log",
        *("-n", "sparkkinesis.Repeated"),
    )
    config = ("-c", "python/pyproject.toml", "--rootdir", ".", "-p", "no:cacheprovider")
    laws = ("-m", "hypothesis", f"--hypothesis-seed={seed}", "python/tests")
    python = ended(
        [sys.executable, "-m", "pytest", "-q", *config, *laws],
        {"EXAMPLES": str(EXAMPLES)},
        folder / "python.log",
    )
    counts = {
        "inputs of properties in Scala": INPUTS * passed(properties[1]),
        "HTTP requests": SEEDS * 2000 * bool(passed(http[1])),
        "inputs of properties in Python": EXAMPLES * added(python[1], "passed"),
    }
    failed = [
        shown(output)
        for (is_good, output), count, shown in zip(
            (properties, http, python),
            counts.values(),
            (failures, failures, last_lines),
            strict=True,
        )
        if not is_good or not count  # no tests are no success
    ]
    return Outcome(counts, failure="\n".join(failed))


def passed(output: str) -> int:
    """The number of tests of ScalaTest that passed."""
    return len(re.findall(r"^- (?!.*\*\*\*).*\)$", output, re.MULTILINE))


FUZZ = Part(
    "fuzz",
    f"At least {INPUTS:,} random, broken or hostile inputs per property of decoders, aggregates, "
    f"offsets and payloads, {SEEDS * 2000:,} HTTP requests for the local Kinesis, and "
    f"{EXAMPLES:,} inputs per property of the Python package",
    partial(compiling, play),
    SEEDS,
)
