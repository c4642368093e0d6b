"""Streams that are copied over a network that is slow, silent or cut, through a proxy."""

from __future__ import annotations

import time
from functools import partial
from typing import TYPE_CHECKING

from tests.campaign.copies import COPIES, Copies, copying
from tests.campaign.rounds import Part

if TYPE_CHECKING:
    from tests.campaign.proxy import Proxy

EVENTS = 6  # of a round
LONGEST_SECONDS = 45.0  # of an event: longer than the limit of a call, 30 s by default

RESETS, CUTS, HALVES = "resets", "cuts", "half-closed connections"
KINDS = (RESETS, CUTS, HALVES, "delays", "throttled links", "silent links", "refused connections")


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
    f"Copies {COPIES} streams through a proxy, all but one with exactly-once delivery. {EVENTS} "
    "events: it resets, cuts, half-closes, delays, throttles, silences or refuses all connections, "
    f"for up to {LONGEST_SECONDS:.0f} s",
    partial(copying, cause, KINDS, EVENTS),
)
