"""The trial from start to verdict."""

from __future__ import annotations

import random
import sys
import time
from contextlib import ExitStack, closing
from dataclasses import dataclass
from typing import TYPE_CHECKING

from . import resources
from .latency import Percentiles, Span, percentiles, within
from .program import Program
from .trial import NAME, STREAM, Stack, Trial, servers

if TYPE_CHECKING:
    from pathlib import Path

    from .books import StoredItem
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
        calm: time from put to stored while the job ran.
        overall: the same for all events, also those that waited for the job to start again.
        latest_errors: the latest errors of the table, newest first.
        dashboard: URL of the dashboard during the trial.
    """

    verdict: Verdict
    alerts: int
    calm: Percentiles
    overall: Percentiles
    latest_errors: list[StoredItem]
    dashboard: str


def run(folder: Path) -> Outcome:
    """Run the trial. Its checkpoint and all logs go into the folder."""
    with ExitStack() as stack:
        started = stack.enter_context(servers(folder))
        screen = started.screen
        screen.tell("local Kinesis, DynamoDB and EventBridge run")
        chance = random.Random(7)  # noqa: S311 the same choices every time
        trial = Trial(started, started.endpoints, RATE, chance)
        stack.enter_context(closing(trial))
        page = start_dashboard(started)
        stack.callback(page.stop)
        trial.job.start()
        dashboard = page.address("dashboard: ")
        screen.tell(f"the job starts; dashboard: {dashboard}")
        calm = play(trial)
        screen.tell("the job has stopped; now the books are compared")
        verdict, items, alerts = trial.compare()
        return Outcome(
            verdict=verdict,
            alerts=alerts,
            calm=percentiles(within(items, calm)),
            overall=percentiles([item.millis for item in items]),
            latest_errors=latest_errors(items),
            dashboard=dashboard,
        )


def play(trial: Trial) -> list[Span]:
    """Write events, reshard, kill and restart. Returns the times in which the job just ran."""
    calm: list[Span] = []
    screen = trial.screen
    trial.begin_load()
    screen.tell("generators write events, errors, garbage and payloads of CloudWatch Logs")
    catch_up(trial)
    begun = now_ms()
    trial.watch(6)
    lower, upper = trial.kinesis.split(STREAM)
    screen.tell(f"a shard was split into {lower} and {upper}")
    trial.watch(6)
    calm.append((begun, now_ms() - SETTLED_MS))
    trial.job.kill_driver()
    screen.tell("kill -9: the driver. Events still arrive")
    trial.watch(1)
    trial.job.start()
    catch_up(trial)
    screen.tell("the job started again from its checkpoint, and has caught up")
    begun = now_ms()
    for _ in range(2):
        trial.watch(3)
        trial.watch_until("a Python worker", trial.kill_worker, START_SECONDS)
        screen.tell("kill -9: a Python worker")
    trial.watch(3)
    merged = trial.kinesis.merge(STREAM)
    screen.tell(f"two shards were merged into {merged}")
    trial.watch(6)
    calm.append((begun, now_ms()))
    trial.end_load()
    screen.tell("the generators have stopped; the job processes the rest")
    trial.watch_until("the job has processed all records", lambda: trial.is_drained, DRAIN_SECONDS)
    trial.job.stop()
    return calm


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


def now_ms() -> int:
    """The time in milliseconds since 1970."""
    return time.time_ns() // 1_000_000
