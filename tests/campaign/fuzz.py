"""Hostile inputs for what reads bytes and text.

Jazzer chooses bytes for the targets of `FuzzTargets.scala` by the code that they reach. What it
learns stays in `corpus` in the folder of the campaign, and later rounds begin with it.
"""

from __future__ import annotations

import re
import sys
from functools import partial
from typing import TYPE_CHECKING

from tests.campaign.histories import added
from tests.campaign.rounds import ROOT, Outcome, Part, last_lines
from tests.campaign.scala import IS_SMALL, ScalaTests, compiling, ended, failures

if TYPE_CHECKING:
    from pathlib import Path

TARGETS = "sparkkinesis.FuzzTargets"
JAZZER = "com.code_intelligence.jazzer.Jazzer"
SECONDS = 3 if IS_SMALL else 60  # of each target
MEMORY = "-Xmx320m"  # an input has at most 4 KiB: a claimed length must not take memory
HANG_SECONDS = 60  # an input takes less than a millisecond, and this machine may be busy
UNUSED = re.compile(r"/org/apache/(?!avro/|httpcomponents/)|/io/(netty|dropwizard)/")
HTTP = "sparkkinesis.simulator.http.fuzz.HttpFuzzSuite"
EXAMPLES = 200 if IS_SMALL else 500  # of each property in Python
SEEDS = 2 if IS_SMALL else 10  # of 2,000 HTTP requests each


def play(tests: ScalaTests, seed: int, folder: Path) -> Outcome:
    """Run the targets, the HTTP requests, and the properties in Python."""
    outcome = bytes_for_targets(tests, seed, folder)
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
    outcome.counts["HTTP requests"] = SEEDS * 2000 * bool(passed(http[1]))
    outcome.counts["inputs of properties in Python"] = EXAMPLES * added(python[1], "passed")
    failed = [
        shown(output)
        for (is_good, output), count, shown in (
            (http, outcome.counts["HTTP requests"], failures),
            (python, outcome.counts["inputs of properties in Python"], last_lines),
        )
        if not is_good or not count  # no tests are no success
    ]
    outcome.failure = "\n".join([*filter(None, [outcome.failure]), *failed])
    return outcome


def bytes_for_targets(tests: ScalaTests, seed: int, folder: Path) -> Outcome:
    """Run Jazzer for each target. The first input that fails is the failure of the round."""
    corpus = folder.parent / "corpus"
    jars = f"{tests.classes}:{tests.jazzer}".split(":")
    # Jazzer reads each jar before it begins: Spark's take longer than a round of CI.
    few = ":".join(jar for jar in jars if not UNUSED.search(jar))
    java = [*tests.java, MEMORY, "-cp", few]
    is_good, output = ended([*java, TARGETS, str(corpus)], {}, folder / "examples.log")
    if not is_good:
        return Outcome(failure=last_lines(output))
    outcome = Outcome(counts={"inputs chosen by coverage": 0})
    for target in re.findall(r"^target: (\S+)$", output, re.MULTILINE):
        options = [
            *(f"--target_class={target}", "--instrumentation_includes=sparkkinesis.**"),
            "--custom_hook_includes=sparkkinesis.**",
            *(f"--reproducer_path={folder}", f"-artifact_prefix={folder}/"),
            *(f"-seed={seed % 2**31 + 1}", f"-max_total_time={SECONDS}"),
            *(f"-timeout={HANG_SECONDS}", "-print_final_stats=1", str(corpus / target)),
        ]
        is_good, output = ended([*java, JAZZER, *options], {}, folder / f"{target}.log")
        inputs = executions(output)
        outcome.counts["inputs chosen by coverage"] += inputs
        if (not is_good or not inputs) and not outcome.failure:
            outcome.failure = f"{target}:\n{finding(output)}"
            outcome.repeat = repeat(target, output, folder.parent / f"fuzz-{seed}")
    return outcome


def executions(output: str) -> int:
    """The number of inputs that Jazzer has run."""
    found = re.search(r"stat::number_of_executed_units: (\d+)", output)
    return int(found[1]) if found else 0


def finding(output: str) -> str:
    """What Jazzer prints about an input that fails, or the end of its output."""
    _, marker, rest = output.partition("== Java Exception")
    return "\n".join((marker + rest).splitlines()[:30]) if marker else last_lines(output)


def repeat(target: str, output: str, kept: Path) -> str:
    """The command that runs the input that failed, from the folder that keeps it."""
    found = re.search(r"Test unit written to .*/(\S+)", output)
    if not found:
        return ""
    file = (kept / found[1]).relative_to(ROOT) if kept.is_relative_to(ROOT) else kept / found[1]
    return f'project/sbt "integration/Test/runMain {TARGETS} {target} {file}"'


def passed(output: str) -> int:
    """The number of tests of ScalaTest that passed."""
    return len(re.findall(r"^- (?!.*\*\*\*).*\)$", output, re.MULTILINE))


FUZZ = Part(
    "fuzz",
    f"Runs Jazzer on each decoder for {SECONDS} s. Jazzer chooses inputs that reach new code. The "
    "decoders read aggregates, offsets, offset logs, options, responses of Kinesis and payloads. "
    f"The local Kinesis receives {SEEDS * 2000:,} HTTP requests. Each property of the Python "
    f"package gets {EXAMPLES:,} inputs",
    partial(compiling, play),
    SEEDS,
)
