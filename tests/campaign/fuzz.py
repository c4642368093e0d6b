"""Hostile inputs for what reads bytes and text: the property tests of `make test`, but longer."""

from __future__ import annotations

import re
import sys
from contextlib import contextmanager
from typing import TYPE_CHECKING

from tests.campaign.rounds import Outcome, Part, Play, last_lines
from tests.campaign.scala import ScalaTests, compiled, ended

if TYPE_CHECKING:
    from collections.abc import Iterator
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
INPUTS = 5_000  # of each property in Scala, at least
EXAMPLES = 500  # of each property in Python
SEEDS = 10  # of 2,000 HTTP requests each


@contextmanager
def opened() -> Iterator[Play]:
    """Compile the tests."""
    tests = compiled()
    yield lambda seed, folder: play(tests, seed, folder)


def play(tests: ScalaTests, seed: int, folder: Path) -> Outcome:
    """Run the properties, the HTTP requests, and the properties in Python."""
    properties = tests.run(
        PROPERTIES,
        {"INPUTS": str(INPUTS)},
        folder,
        *("-n", "sparkkinesis.Fuzzed", "-S", str(seed)),
    )
    http = tests.run(
        [HTTP],
        {"SPARK_KINESIS_TESTS": "campaign", "FIRST_SEED": str(seed), "SEEDS": str(SEEDS)},
        folder,
        *("-n", "sparkkinesis.Repeated"),
    )
    config = ("-c", "python/pyproject.toml", "--rootdir", ".", "-p", "no:cacheprovider")
    laws = ("-m", "hypothesis", f"--hypothesis-seed={seed}", "python/tests")
    python = ended(
        [sys.executable, "-m", "pytest", "-q", *config, *laws],
        {"EXAMPLES": str(EXAMPLES)},
        folder,
    )
    held = [
        INPUTS * len(re.findall(r"^- .*\)$", properties[1], re.MULTILINE)),
        SEEDS * 2000,
        EXAMPLES * sum(int(n) for n in re.findall(r"(\d+) passed", python[1])),
    ]
    names = ("inputs of properties in Scala", "HTTP requests", "inputs of properties in Python")
    failed = [output for is_good, output in (properties, http, python) if not is_good]
    return Outcome(
        dict(zip(names, held, strict=True)),
        seeds=SEEDS,
        failure="\n".join(map(last_lines, failed)),
    )


FUZZ = Part(
    "fuzz",
    f"At least {INPUTS:,} random, broken or hostile inputs per property of decoders, aggregates, "
    f"offsets and payloads, {SEEDS * 2000:,} HTTP requests for the local Kinesis, and "
    f"{EXAMPLES:,} inputs per property of the Python package",
    opened,
)
