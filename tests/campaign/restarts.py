"""Kinesis to Spark to Kinesis on a standalone cluster whose processes are killed at random."""

from __future__ import annotations

import random
import time
from collections import Counter
from contextlib import contextmanager
from typing import TYPE_CHECKING

from tests.campaign.copies import COPIES, Copies, copying
from tests.campaign.proxy import Proxy
from tests.campaign.rounds import Outcome, Part, Play
from tests.e2e.support.streams import local_kinesis

if TYPE_CHECKING:
    from collections.abc import Iterator
    from pathlib import Path

EVENTS = 4  # of a round
EXECUTOR, EXECUTORS = "kills of an executor", "kills of all executors"
WORKER, DRIVER = "kills of a worker", "kills of the driver"
STOP, CONNECTIONS, RESHARD = "planned stops", "resets of all connections", "reshards"
KINDS = (EXECUTOR, EXECUTORS, WORKER, DRIVER, STOP, CONNECTIONS, RESHARD)


@contextmanager
def opened() -> Iterator[Play]:
    """Start a local Kinesis, and a proxy whose connections can be cut."""
    with local_kinesis() as kinesis, Proxy(kinesis.endpoint).running() as proxy:
        yield lambda seed, folder: play(kinesis.endpoint, proxy, seed, folder)


def play(endpoint: str, proxy: Proxy, seed: int, folder: Path) -> Outcome:
    """Copy streams through some events, and count what arrived."""
    chance = random.Random(seed)
    happened: Counter[str] = Counter()
    with copying(endpoint, proxy.endpoint, chance, folder) as copies:
        for _ in range(EVENTS):
            kind = chance.choice(KINDS)
            since = time.monotonic()
            happened[kind] += 1
            happened["restarts"] += cause(kind, copies, proxy)
            if chance.random() < 0.7:
                copies.await_rows(since)
            else:  # the next event comes while this one is being repaired
                time.sleep(chance.uniform(0, 20))
    return copies.outcome(happened)


def cause(kind: str, copies: Copies, proxy: Proxy) -> int:
    """Cause an event, and return the number of processes that end and start again."""
    if kind == EXECUTOR:
        return copies.kill_executors(1)
    if kind == EXECUTORS:
        return copies.kill_executors(2)
    if kind == WORKER:
        copies.kill_worker()
        return 2  # its executor ends with it
    if kind == RESHARD:
        copies.reshard()
        return 0
    if kind == CONNECTIONS:
        proxy.reset()
        return 0
    if kind == DRIVER:
        copies.kill_driver()
    else:
        copies.stop()
    copies.start(proxy.endpoint)
    return 1


RESTARTS = Part(
    "restarts",
    f"{COPIES} streams are copied on a standalone cluster, all but one exactly once, through "
    f"{EVENTS} random events. The rows are counted with boto3 and `aws_kinesis_agg`",
    opened,
)
