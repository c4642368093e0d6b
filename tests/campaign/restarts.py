"""Kinesis to Spark to Kinesis on a standalone cluster whose processes are killed at random."""

from __future__ import annotations

import random
import time
from contextlib import contextmanager
from typing import TYPE_CHECKING

from tests.campaign.copies import COPIES, Copies, copied
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

        def play(seed: int, folder: Path) -> Outcome:
            addresses = (kinesis.endpoint, proxy.endpoint, str(folder))
            kinds = random.Random(seed).choices(KINDS, k=EVENTS)
            return copied(addresses, lambda *it: cause(proxy, *it), kinds, seed, folder)

        yield play


def cause(proxy: Proxy, kind: str, copies: Copies) -> None:
    """Cause an event. The next one often comes while this one is being repaired."""
    restarts = 1
    if kind == EXECUTOR:
        restarts = copies.kill_executors(1)
    elif kind == EXECUTORS:
        restarts = copies.kill_executors(2)
    elif kind == WORKER:
        copies.kill_worker()
        restarts = 2  # its executor ends with it
    elif kind in (DRIVER, STOP):
        {DRIVER: copies.kill_driver, STOP: copies.stop}[kind]()
        copies.start()
    else:
        {RESHARD: copies.reshard, CONNECTIONS: proxy.reset}[kind]()
        restarts = 0
    copies.happened["restarts"] += restarts
    if copies.chance.random() < 0.7:
        copies.await_recovery()
    else:
        time.sleep(copies.chance.uniform(0, 20))


RESTARTS = Part(
    "restarts",
    f"{COPIES} streams are copied on a standalone cluster, all but one exactly once, through "
    f"{EVENTS} random events. The rows are counted with boto3 and `aws_kinesis_agg`",
    opened,
)
