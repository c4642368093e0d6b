"""Kinesis to Spark to Kinesis on a standalone cluster whose processes are killed at random."""

from __future__ import annotations

import time
from functools import partial
from typing import TYPE_CHECKING

from tests.campaign.copies import COPIES, Copies, copying
from tests.campaign.rounds import Part

if TYPE_CHECKING:
    from tests.campaign.proxy import Proxy

EVENTS = 4  # of a round
EXECUTOR, EXECUTORS = "kills of an executor", "kills of all executors"
WORKER, DRIVER = "kills of a worker", "kills of the driver"
MASTER = "kills of the master"
STOP, CONNECTIONS, RESHARD = "planned stops", "resets of all connections", "reshards"
KINDS = (EXECUTOR, EXECUTORS, WORKER, MASTER, DRIVER, STOP, CONNECTIONS, RESHARD)


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
    elif kind == MASTER:
        copies.restart_master()
        restarts = 5  # also two workers, with an executor each
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
    f"Copies {COPIES} streams on a standalone cluster, all but one with exactly-once delivery, "
    f"through {EVENTS} random events. The rows are counted with boto3 and `aws_kinesis_agg`",
    partial(copying, cause, KINDS, EVENTS),
)
