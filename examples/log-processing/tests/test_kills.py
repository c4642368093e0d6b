"""The whole application, killed at random, throttled, and without EventBridge.

The servers are those of ``make demo-logs``. The events of the stream are compared with the table,
with the log group behind EventBridge, and with the bad events.
"""

from __future__ import annotations

import dataclasses
import os
import random
import sys
from contextlib import closing, contextmanager
from typing import TYPE_CHECKING

import pytest
from gate import Gate

from log_processing.demo.servers import BUILT
from log_processing.demo.trial import Endpoints, Stack, Trial, servers

if TYPE_CHECKING:
    from collections.abc import Iterator
    from pathlib import Path

pytestmark = [
    pytest.mark.slow,
    pytest.mark.skipif(not sys.platform.startswith("linux"), reason="finds processes in /proc"),
]
SEED = int(os.environ.get("LOG_SEED", random.SystemRandom().randrange(2**32)))
DRIVERS, WORKERS = 3, 18
WAIT_SECONDS, DRAIN_SECONDS = 90, 120
OUTAGE_SECONDS = 30
RATE = 150.0


@pytest.fixture(scope="module", autouse=True)
def _built() -> None:
    assert BUILT.is_dir(), f"DynamoDB Local is not in {BUILT}: make demo-logs"


@contextmanager
def trial(stack: Stack, reached: Endpoints) -> Iterator[Trial]:
    """A trial whose job runs and has processed records."""
    chance = random.Random(SEED)
    with closing(Trial(stack, reached, RATE, chance)) as opened:
        opened.screen.log(f"seed: LOG_SEED={SEED}")
        opened.begin_load()
        opened.job.start()
        wait_for_batch(opened)
        yield opened


def wait_for_batch(opened: Trial) -> None:
    before = opened.batches.records
    opened.watch_until("a batch", lambda: opened.batches.records > before, WAIT_SECONDS)


def assert_balanced(opened: Trial) -> None:
    """Check that the job processes the rest, ends well, and that the ledgers are equal."""
    opened.end_load()
    opened.watch_until("all records are processed", lambda: opened.is_drained, DRAIN_SECONDS)
    assert opened.job.stop() == 0
    verdict, _, alerts = opened.compare()
    opened.screen.log(f"{verdict}, alerts: {alerts}")
    assert verdict.is_balanced, str(verdict)
    assert verdict.errors > 0
    assert verdict.bad > 0


def test_killed_drivers_and_workers_and_reshards_lose_and_repeat_nothing(tmp_path: Path) -> None:
    chance = random.Random(SEED)
    kills = ["driver"] * DRIVERS + ["worker"] * WORKERS
    chance.shuffle(kills)
    with servers(tmp_path) as stack, trial(stack, stack.endpoints) as opened:
        done = 0
        for number, kill in enumerate(kills):
            if number == len(kills) // 3:
                stack.kinesis.split("app-logs")
            if number == 2 * len(kills) // 3:
                stack.kinesis.merge("app-logs")
            opened.watch(chance.uniform(0.1, 1.0))
            if kill == "driver":
                opened.job.kill_driver()
                opened.job.start()
                wait_for_batch(opened)
            else:
                opened.watch_until("a Python worker", opened.kill_worker, WAIT_SECONDS)
            done += 1
            opened.screen.log(f"{done}. kill -9 of a {kill}")
        assert_balanced(opened)
    assert done >= 20


@pytest.mark.long
def test_no_alert_is_lost_while_eventbridge_is_down(tmp_path: Path) -> None:
    with servers(tmp_path) as stack, closing(Gate(stack.endpoints.events)) as gate:
        reached = dataclasses.replace(stack.endpoints, events=gate.url)
        with trial(stack, reached) as opened:
            gate.close()
            opened.watch(OUTAGE_SECONDS / 2)
            during = opened.batches.errors
            opened.watch(OUTAGE_SECONDS / 2)
            assert opened.batches.errors == during, "a batch ended without its alerts"
            gate.open()
            wait_for_batch(opened)
            assert opened.batches.errors > during
            assert_balanced(opened)


@pytest.mark.long
def test_throttled_writes_lose_and_repeat_nothing(tmp_path: Path) -> None:
    with servers(tmp_path) as stack:
        with closing(Gate(stack.endpoints.dynamodb, refused=0.5, seed=SEED)) as gate:
            reached = dataclasses.replace(stack.endpoints, dynamodb=gate.url)
            with trial(stack, reached) as opened:
                opened.watch(5)
                assert_balanced(opened)
        seen = gate.seen
    assert seen["throttled"] > 0
    assert seen["halved"] > 0
    assert seen["forwarded"] < 1.5 * (seen["throttled"] + seen["halved"])
