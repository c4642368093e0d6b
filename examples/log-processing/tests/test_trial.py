"""The whole application, killed at random, and with each service away for a while.

The servers are those of ``make demo-logs``, and so is the judge.
"""

from __future__ import annotations

import os
import random
import re
import subprocess
import sys
from contextlib import ExitStack, closing, contextmanager
from typing import TYPE_CHECKING

import pytest
from gate import Gate

from trial.run import Trial
from trial.services import JARS, SOURCES, STREAM, Services, services

if TYPE_CHECKING:
    from collections.abc import Iterator
    from pathlib import Path

pytestmark = [
    pytest.mark.slow,
    pytest.mark.skipif(not JARS.is_dir(), reason="needs DynamoDB Local: make demo-logs builds it"),
]
SEED = int(os.environ.get("LOG_SEED", random.SystemRandom().randrange(2**32)))
DRIVERS, WORKERS = 3, 17
OUTAGE_SECONDS, RATE = 20, 150.0


@contextmanager
def running(started: Services, reached: tuple[str, str] | None = None) -> Iterator[Trial]:
    """A trial whose job has stored records."""
    with closing(Trial(started, RATE, random.Random(SEED), reached)) as trial:
        trial.log(f"LOG_SEED={SEED}")
        trial.begin_load()
        trial.start_job()
        wait_for_a_batch(trial)
        yield trial


def wait_for_a_batch(trial: Trial) -> None:
    before = trial.processed
    trial.watch_until("a batch", lambda: trial.processed > before)


def assert_even(trial: Trial) -> None:
    """Let the job do the rest, and compare."""
    assert trial.finish() == 0
    balance = trial.balance()
    trial.log(str(balance))
    assert balance.is_even, str(balance)
    assert min(balance.errors, balance.bad) > 0


def test_twenty_kills_and_reshards_lose_and_repeat_nothing(tmp_path: Path) -> None:
    kills = ["driver"] * DRIVERS + ["worker"] * WORKERS
    chance = random.Random(SEED)
    chance.shuffle(kills)
    with services(tmp_path) as started, running(started) as trial:
        for number, kill in enumerate(kills):
            if number == len(kills) // 3:
                started.kinesis.split(STREAM)
            if number == 2 * len(kills) // 3:
                started.kinesis.merge(STREAM)
            trial.watch(chance.uniform(0.1, 1.0))
            if kill == "driver":
                trial.kill_driver()
                trial.start_job()
                wait_for_a_batch(trial)
            else:
                trial.watch_until("a Python worker", trial.kill_worker)
            trial.log(f"{number + 1}. kill -9: a {kill}")
        assert_even(trial)


@pytest.mark.long
def test_no_event_waits_for_eventbridge(tmp_path: Path) -> None:
    with (
        services(tmp_path) as started,
        closing(Gate(started.events)) as gate,
        running(started, (started.dynamodb, gate.url)) as trial,
    ):
        gate.close()
        for _ in range(3):  # stored in spite of the outage, again and again
            trial.watch(OUTAGE_SECONDS / 3)
            wait_for_a_batch(trial)
        waiting = trial.balance()
        assert waiting.published < waiting.errors
        gate.open()
        assert_even(trial)


@pytest.mark.long
def test_no_alert_waits_for_dynamodb(tmp_path: Path) -> None:
    with (
        services(tmp_path) as started,
        closing(Gate(started.dynamodb)) as gate,
        running(started, (gate.url, started.events)) as trial,
    ):
        gate.close()
        trial.watch(2)
        begun = trial.balance()
        trial.watch(OUTAGE_SECONDS)
        during = trial.balance()
        assert during.stored == begun.stored
        assert during.published > begun.published
        gate.open()
        assert_even(trial)


@pytest.mark.long
def test_the_job_outlives_outages_of_its_files_and_of_kinesis(tmp_path: Path) -> None:
    with services(tmp_path) as started, running(started) as trial:
        trial.outage_of_files()
        trial.watch(OUTAGE_SECONDS)
        trial.outage_of_files(ends=True)
        wait_for_a_batch(trial)
        with ExitStack() as outage:
            for operation in ("GetRecords", "GetShardIterator", "ListShards"):
                outage.enter_context(started.kinesis.fault("unavailable", operation=operation))
            trial.watch(OUTAGE_SECONDS / 2)  # what was read ahead is stored
            before = trial.processed
            trial.watch(OUTAGE_SECONDS / 2)
            assert trial.processed == before
        wait_for_a_batch(trial)
        assert_even(trial)


@pytest.mark.long
def test_the_demo_ends_with_an_even_balance() -> None:
    path = os.pathsep.join(filter(None, [str(SOURCES), os.environ.get("PYTHONPATH")]))
    ended = subprocess.run(
        [sys.executable, "-m", "trial"],
        env={**os.environ, "PYTHONPATH": path},
        capture_output=True,
        text=True,
        check=False,
    )
    assert ended.returncode == 0, ended.stdout + ended.stderr
    *story, quick, slow, balance = ended.stdout.splitlines()
    found = re.fullmatch(
        r"demo-logs: put=(\d+) stored=(\d+) missing=0 twice=0 "
        r"errors=(\d+) published>=(\d+) bad=(\d+) kept=(\d+)",
        balance,
    )
    assert found, balance
    put, stored, errors, published, bad, kept = map(int, found.groups())
    assert (put, errors, bad) == (stored, published, kept)
    assert min(put, errors, bad) > 0
    for line, seconds in ((quick, "0"), (slow, "10")):
        said = rf".*put to stored with --trigger-seconds {seconds}: p50=(\d.*) s p99=(\d.*) s"
        times = re.fullmatch(said, line)
        assert times, line
        assert 0 < float(times[1]) <= float(times[2])
    assert sum("kill -9" in line for line in story) == 3
