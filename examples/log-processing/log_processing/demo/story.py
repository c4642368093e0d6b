"""The trial from start to verdict."""

from __future__ import annotations

import random
import sys
from contextlib import ExitStack, closing
from dataclasses import dataclass
from typing import TYPE_CHECKING

from log_processing.delivery.clock import now_ms

from . import resources
from .latency import Percentiles, Span, percentiles, within
from .program import Program
from .trial import NAME, STREAM, Stack, Trial, servers

if TYPE_CHECKING:
    from pathlib import Path

    from .ledger import StoredItem
    from .verdict import Verdict

RATE = 200.0
START_SECONDS, DRAIN_SECONDS = 120.0, 120.0
LATEST_ERRORS = 5
# Events that arrive later than this before the driver is killed may wait for its restart.
SETTLED_MS = 3000


@dataclass(frozen=True)
class Outcome:
    """What the trial found.

    Attributes:
        alerts: number of messages at the rule's target, with repeats.
        undisturbed: time from put to stored while the job ran.
        overall: the same for all events, also those that waited for the job to start again.
        latest_errors: the latest errors of the table, newest first.
        dashboard: URL of the dashboard during the trial.
    """

    verdict: Verdict
    alerts: int
    undisturbed: Percentiles
    overall: Percentiles
    latest_errors: list[StoredItem]
    dashboard: str


def run(folder: Path) -> Outcome:
    """Run the trial. Its checkpoint and all logs go into the folder."""
    with ExitStack() as stack:
        started = stack.enter_context(servers(folder))
        screen = started.screen
        screen.log("local Kinesis, DynamoDB and EventBridge run")
        chance = random.Random(7)  # noqa: S311 the same choices every time
        trial = Trial(started, started.endpoints, RATE, chance)
        stack.enter_context(closing(trial))
        page = start_dashboard(started)
        stack.callback(page.stop)
        trial.job.start()
        dashboard = page.address("dashboard: ")
        screen.log(f"the job starts; dashboard: {dashboard}")
        undisturbed = play(trial)
        screen.log("the job has stopped; the ledgers are compared now")
        verdict, items, alerts = trial.compare()
        return Outcome(
            verdict=verdict,
            alerts=alerts,
            undisturbed=percentiles(within(items, undisturbed)),
            overall=percentiles([item.millis for item in items]),
            latest_errors=latest_errors(items),
            dashboard=dashboard,
        )


def play(trial: Trial) -> list[Span]:
    """Write events, reshard, kill and restart. Returns the times in which the job just ran."""
    trial.begin_load()
    trial.screen.log("generators write events, errors, garbage and payloads of CloudWatch Logs")
    catch_up(trial)
    undisturbed = [split_a_shard(trial)]
    restart_the_driver(trial)
    undisturbed.append(kill_workers_and_merge(trial))
    trial.end_load()
    trial.screen.log("the generators have stopped; the job processes the rest")
    trial.watch_until("the job has processed all records", lambda: trial.is_drained, DRAIN_SECONDS)
    trial.job.stop()
    return undisturbed


def split_a_shard(trial: Trial) -> Span:
    """Let the job run, and split a shard. Returns the time without what waited for a restart."""
    begun = now_ms()
    trial.watch(6)
    lower, upper = trial.kinesis.split(STREAM)
    trial.screen.log(f"a shard was split into {lower} and {upper}")
    trial.watch(6)
    return begun, now_ms() - SETTLED_MS


def restart_the_driver(trial: Trial) -> None:
    """Kill the driver, and start the job again."""
    trial.job.kill_driver()
    trial.screen.log("kill -9: the driver. Events still arrive")
    trial.watch(1)
    trial.job.start()
    catch_up(trial)
    trial.screen.log("the job started again from its checkpoint, and has caught up")


def kill_workers_and_merge(trial: Trial) -> Span:
    """Kill two Python workers, and merge two shards. Returns the time that this took."""
    begun = now_ms()
    for _ in range(2):
        trial.watch(3)
        trial.watch_until("a Python worker", trial.kill_worker, START_SECONDS)
        trial.screen.log("kill -9: a Python worker")
    trial.watch(3)
    merged = trial.kinesis.merge(STREAM)
    trial.screen.log(f"two shards were merged into {merged}")
    trial.watch(6)
    return begun, now_ms()


def catch_up(trial: Trial) -> None:
    """Wait until the job has processed almost all records."""
    trial.watch_until("the job has caught up", lambda: trial.is_caught_up, START_SECONDS)


def start_dashboard(stack: Stack) -> Program:
    """Start the dashboard on a free port."""
    options = ["--table", resources.TABLE, "--name", NAME, "--port", "0"]
    options += ["--dynamodb-endpoint", stack.endpoints.dynamodb]
    command = [sys.executable, "-m", "log_processing.dashboard", *options]
    return Program("the dashboard", command, stack.folder / "dashboard.log")


def latest_errors(items: list[StoredItem]) -> list[StoredItem]:
    """The latest errors, newest first."""
    errors = [item for item in items if item.is_error]
    return sorted(errors, key=lambda item: item.timestamp, reverse=True)[:LATEST_ERRORS]
