"""Streams that are copied over a network that is slow, silent or cut, through a proxy."""

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

EVENTS = 6  # of a round
LONGEST_SECONDS = 45.0  # of an event: longer than the limit of a call, 30 s by default

RESETS, CUTS, HALVES = "resets", "cuts", "half-closed connections"
KINDS = (RESETS, CUTS, HALVES, "delays", "throttled links", "silent links", "refused connections")


@contextmanager
def opened() -> Iterator[Play]:
    """Start a local Kinesis, and the proxy in front of it."""
    with local_kinesis() as kinesis, Proxy(kinesis.endpoint).running() as proxy:

        def play(seed: int, folder: Path) -> Outcome:
            addresses = (kinesis.endpoint, proxy.endpoint, str(folder))
            kinds = random.Random(seed).choices(KINDS, k=EVENTS)
            return copied(addresses, lambda *it: cause(proxy, *it), kinds, seed, folder)

        yield play


def cause(proxy: Proxy, kind: str, copies: Copies) -> None:
    """Cause an event, and wait until it is over and repaired."""
    chance = copies.chance
    if kind in (RESETS, CUTS, HALVES):
        for _ in range(chance.randint(1, 5)):
            {RESETS: proxy.reset, CUTS: proxy.cut, HALVES: proxy.half_close}[kind]()
            time.sleep(chance.uniform(0, 3))
    else:
        if kind == "delays":
            proxy.delay_seconds = chance.uniform(0.02, 0.5)
        elif kind == "throttled links":
            proxy.bytes_per_second = chance.choice((500, 5_000, 50_000))
        elif kind == "silent links":
            proxy.stall()
        else:
            proxy.is_refusing = True
            proxy.reset()
        time.sleep(chance.uniform(5, LONGEST_SECONDS))
    proxy.calm()
    copies.mark()
    copies.await_recovery()


NETWORKS = Part(
    "networks",
    f"{COPIES} streams are copied through a proxy, all but one exactly once. {EVENTS} times it "
    "resets, cuts, half-closes, delays, throttles, silences or refuses all connections, for up to "
    f"{LONGEST_SECONDS:.0f} s",
    opened,
)
