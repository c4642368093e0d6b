"""Copies with their checkpoints on S3, while S3 is slow or fails and the driver is killed."""

from __future__ import annotations

import json
import random
import time
from contextlib import contextmanager
from functools import partial
from typing import TYPE_CHECKING

from tests.campaign.copies import COPIES, Copies, copied
from tests.campaign.rounds import Outcome, Part, Play
from tests.campaign.s3 import BUCKET, FaultyS3
from tests.e2e.support.streams import local_kinesis

if TYPE_CHECKING:
    from collections.abc import Iterator
    from pathlib import Path

EVENTS = 4  # of a round
DRIVER, ERRORS, SLOW, OUTAGE = "kills of the driver", "times with errors", "slow times", "outages"
KINDS = (DRIVER, ERRORS, SLOW, OUTAGE)


@contextmanager
def opened() -> Iterator[Play]:
    """Start a local Kinesis and an S3."""
    with local_kinesis() as kinesis, FaultyS3().running() as s3:

        def play(seed: int, folder: Path) -> Outcome:
            (folder / "spark.json").write_text(json.dumps(s3.settings()))
            s3.chance.seed(seed)
            s3.errors = 0
            root = f"s3a://{BUCKET}/{seed}-{time.time_ns()}"
            addresses = (kinesis.endpoint, kinesis.endpoint, root)
            kinds = random.Random(seed).choices(KINDS, k=EVENTS)
            outcome = copied(addresses, partial(cause, s3), kinds, seed, folder)
            outcome.counts["failed requests to S3"] = s3.errors
            return outcome

        yield play


def cause(s3: FaultyS3, kind: str, copies: Copies) -> None:
    """Cause an event, and wait until it is over and repaired."""
    chance = copies.chance
    if kind == DRIVER:
        s3.error_rate = chance.choice((0, 0.1))
        copies.kill_driver()
        copies.start()
    else:
        if kind == ERRORS:
            s3.error_rate = chance.uniform(0.05, 0.3)
        elif kind == SLOW:
            s3.longest_seconds = chance.uniform(1, 5)
        else:
            s3.error_rate = 1
        time.sleep(chance.uniform(5, 60))
    s3.calm()
    copies.mark()
    copies.await_recovery()


CHECKPOINTS = Part(
    "checkpoints",
    f"Copies {COPIES} streams, all but one with exactly-once delivery, with checkpoints on the S3 "
    f"server of moto through S3A. {EVENTS} events: the driver is killed, or S3 is slow or fails "
    "for up to 60 s",
    opened,
)
