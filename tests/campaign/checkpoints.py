"""Copies streams while the store of the checkpoints fails, or the driver is killed.

A round has one store: S3 with conditional writes, S3 without them, or HDFS. The first copy has a
state, which RocksDB keeps.
"""

from __future__ import annotations

import json
import random
import time
from contextlib import contextmanager
from functools import partial
from typing import TYPE_CHECKING

import pyspark

from tests.campaign.copies import COPIES, Copies, copied
from tests.campaign.hdfs import RESTART, Hdfs
from tests.campaign.rounds import Outcome, Part, Play
from tests.campaign.s3 import FaultyS3
from tests.e2e.support.streams import local_kinesis

if TYPE_CHECKING:
    from collections.abc import Iterator
    from pathlib import Path

EVENTS = 4  # of a round
DRIVER = "kills of the driver"
LONGEST_SECONDS = 60  # that a store fails
STATE = {
    "spark.sql.streaming.stateStore.providerClass": "org.apache.spark.sql.execution.streaming"
    ".state.RocksDBStateStoreProvider"
}
NEW_FORMAT = {
    "spark.sql.streaming.offsetLog.formatVersion": "2",
    "spark.sql.streaming.stateStore.checkpointFormatVersion": "2",
}
HAS_NEW_FORMAT = tuple(map(int, pyspark.__version__.split(".")[:2])) >= (4, 3)


@contextmanager
def opened() -> Iterator[Play]:
    """Start a local Kinesis."""
    with local_kinesis() as kinesis:

        def play(seed: int, folder: Path) -> Outcome:
            with store_of(seed, folder).running() as store:
                settings = store.settings() | STATE
                counts = {f"rounds on {store.name}": 1}
                if HAS_NEW_FORMAT:
                    settings |= NEW_FORMAT
                    counts["rounds with the checkpoint format of Spark 4.3"] = 1
                (folder / "spark.json").write_text(json.dumps(settings))
                addresses = (kinesis.endpoint, kinesis.endpoint, store.root)
                kinds = random.Random(seed).choices((DRIVER, *store.kinds), k=EVENTS)
                act = partial(cause, store)
                outcome = copied(addresses, act, kinds, seed, folder, has_state=True)
                outcome.counts = counts | outcome.counts | store.counts()
                return outcome

        yield play


def store_of(seed: int, folder: Path) -> FaultyS3 | Hdfs:
    """The store of a round. Rounds take turns."""
    turn = seed % 3
    return Hdfs(folder / "hdfs") if turn == 0 else FaultyS3(is_conditional=turn == 1)


def cause(store: FaultyS3 | Hdfs, kind: str, copies: Copies) -> None:
    """Cause an event, and wait until it is over and repaired.

    In half of the failures of the store, the driver is killed, too. If HDFS is killed, the driver
    is always killed: its writes fail, and the query may fail with them.
    """
    chance = copies.chance
    is_killed = kind in (DRIVER, RESTART) or chance.random() < 0.5
    if kind == DRIVER:
        copies.kill_driver()
    else:
        with store.outage(kind, chance):
            time.sleep(chance.uniform(5, LONGEST_SECONDS))
            if is_killed:
                copies.kill_driver()
                copies.happened[DRIVER] += 1
    if is_killed:
        copies.start()
    copies.mark()
    copies.await_recovery()


CHECKPOINTS = Part(
    "checkpoints",
    f"Copies {COPIES} streams, all but one with exactly-once delivery. Rounds take turns "
    "between three stores of checkpoints: moto's S3 server with conditional writes, the same "
    "without them (both through S3A), and HDFS. One source has some rows twice. Its copy drops "
    "them, and keeps its state in RocksDB. On Spark 4.3, checkpoints have the new format. "
    f"{EVENTS} events: the driver is killed, or the store is slow, returns errors or pauses for up "
    f"to {LONGEST_SECONDS} s, or HDFS is killed",
    opened,
)
