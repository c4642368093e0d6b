"""Streams that are copied over TLS, with a role, while the network is slow, silent, cut or wrong.

The streams and the token service (STS) are behind a proxy each, which sees TLS only. Behind it, a
second proxy ends the TLS, because the servers speak clear text.
"""

from __future__ import annotations

import json
import random
import time
from contextlib import ExitStack, contextmanager
from datetime import timedelta
from functools import partial
from pathlib import Path
from tempfile import TemporaryDirectory
from typing import TYPE_CHECKING

from python.tests.doctor.servers import certified
from tests.campaign import logs
from tests.campaign.copies import COPIES, Copies, copied
from tests.campaign.proxy import Proxy
from tests.campaign.rounds import Outcome, Part, Play
from tests.e2e.support.roles import token_service
from tests.e2e.support.streams import local_kinesis

if TYPE_CHECKING:
    import ssl
    from collections.abc import Iterator

EVENTS = 6  # of a round
LONGEST_SECONDS = 45.0  # of an event: longer than the limit of a call, 30 s by default
# Documented: a call ends after 40 s, a silent subscription after 45 s, and a repeated task waits
# for 75 s before it reads back. This is almost twice their sum: the machine may be busy.
RECOVERY_SECONDS = 300.0
# A client renews them 60 s or more before they expire.
VALID = timedelta(seconds=150)
# The longest pause between two attempts of a client to renew them, and a call.
RENEWAL_SECONDS = 35.0
ROLE = "arn:aws:iam::123456789012:role/campaign"

RESETS, CUTS, HALVES = "resets", "cuts", "half-closed connections"
DELAYS, THROTTLED, SILENT = "delays", "throttled links", "silent links"
REFUSED, CORRUPT = "refused connections", "corrupted links"
OF_KINESIS = (RESETS, CUTS, HALVES, DELAYS, THROTTLED, SILENT, REFUSED, CORRUPT)
OF_STS = {f"{it} to STS": it for it in (RESETS, DELAYS, SILENT, REFUSED, CORRUPT)}
EXPIRY = "periods without credentials"
KINDS = (*OF_KINESIS, *OF_STS, EXPIRY)


@contextmanager
def opened() -> Iterator[Play]:
    """Start a local Kinesis and a token service, with TLS and a proxy in front of each."""
    with ExitStack() as stack:
        kinesis = stack.enter_context(local_kinesis())
        sts = stack.enter_context(token_service(VALID))
        folder = Path(stack.enter_context(TemporaryDirectory(prefix="campaign-tls-")))
        tls = certified(folder, "h2", "http/1.1")
        to_kinesis, to_sts = (
            stack.enter_context(secure(it, tls)) for it in (kinesis.endpoint, sts)
        )
        role = {"arn": ROLE, "sts_endpoint": to_sts.endpoint}
        options = {"ca_bundle": str(folder / "server.pem"), "role": role}

        def play(seed: int, work: Path) -> Outcome:
            (work / "options.json").write_text(json.dumps(options))
            (work / "spark.json").write_text(json.dumps(logs.settings()))
            addresses = (kinesis.endpoint, to_kinesis.endpoint, str(work))
            kinds = random.Random(seed).choices(KINDS, k=EVENTS)
            before = to_kinesis.corrupted + to_sts.corrupted
            outcome = copied(addresses, partial(cause, to_kinesis, to_sts), kinds, seed, work)
            outcome.counts["corrupted chunks"] = to_kinesis.corrupted + to_sts.corrupted - before
            return judged(outcome, logs.entries(work))

        yield play


@contextmanager
def secure(endpoint: str, tls: ssl.SSLContext) -> Iterator[Proxy]:
    """A proxy in front of TLS in front of a server with clear text."""
    with Proxy(endpoint, tls).running() as inner, Proxy(inner.endpoint).running() as outer:
        yield outer


def cause(kinesis: Proxy, sts: Proxy, kind: str, copies: Copies) -> None:
    """Cause an event, and wait until it is over and repaired."""
    chance = copies.chance
    if kind == EXPIRY:
        disturb(sts, REFUSED, chance)
        time.sleep(VALID.total_seconds() + 10)
    elif kind in OF_STS:
        disturb(sts, OF_STS[kind], chance)
        copies.await_recovery(RECOVERY_SECONDS)  # the credentials are still valid
    else:
        disturb(kinesis, kind, chance)
        is_long = kind not in (RESETS, CUTS, HALVES)
        time.sleep(chance.uniform(5, LONGEST_SECONDS) if is_long else 0)
    kinesis.calm()
    sts.calm()
    if kind in OF_STS:
        time.sleep(RENEWAL_SECONDS)
    copies.mark()
    copies.await_recovery(RECOVERY_SECONDS)


def disturb(proxy: Proxy, kind: str, chance: random.Random) -> None:
    """Break all connections a few times, or begin what lasts until `calm`."""
    if kind in (RESETS, CUTS, HALVES):
        for _ in range(chance.randint(1, 5)):
            {RESETS: proxy.reset, CUTS: proxy.cut, HALVES: proxy.half_close}[kind]()
            time.sleep(chance.uniform(0, 3))
    elif kind == DELAYS:
        proxy.delay_seconds = chance.uniform(0.02, 0.5)
    elif kind == THROTTLED:
        proxy.bytes_per_second = chance.choice((500, 5_000, 50_000))
    elif kind == SILENT:
        proxy.stall()
    elif kind == CORRUPT:
        proxy.corrupt_share = chance.uniform(0.02, 0.5)
    else:
        proxy.is_refusing = True
        proxy.reset()


def judged(outcome: Outcome, entries: list[str]) -> Outcome:
    """Count the warnings and errors of the connector. A raw exception of Java is a failure."""
    counts = outcome.counts
    counts["warnings and errors of the connector"] = len(entries)
    for word in ("TLS", "STS"):
        counts[f"warnings and errors that name {word}"] = sum(word in it for it in entries)
    bare = logs.raw_exceptions(entries)
    counts["warnings and errors with a raw exception"] = len(bare)
    told = f"STS returned no credentials for role {ROLE}"
    if counts.get(EXPIRY) and not any(told in it for it in entries):
        bare.append(f"no error says: {told}")
    if not entries and any(counts.get(it) for it in (REFUSED, CORRUPT)):
        bare.append("the logs have no warning or error of the connector: were they read?")
    if counts.get(CORRUPT) and not counts.get("corrupted chunks"):
        bare.append("no chunk was corrupted")
    outcome.failure = "\n".join(filter(None, [outcome.failure, *bare]))
    return outcome


NETWORKS = Part(
    "networks",
    f"Copies {COPIES} streams over TLS with a role, all but one with exactly-once delivery. The "
    f"role's credentials expire after {VALID.total_seconds():.0f} s. {EVENTS} events: a proxy "
    f"disturbs all connections to Kinesis for up to {LONGEST_SECONDS:.0f} s, or all connections to "
    "STS. It resets, cuts, half-closes, delays, throttles, stalls, refuses or corrupts them. In "
    "one kind of event, STS is away until the credentials have expired. After each event, new rows "
    f"must arrive within {RECOVERY_SECONDS:.0f} s. While STS fails and the credentials are valid, "
    "new rows must arrive, too. No warning or error of the connector may be a raw exception of "
    "Java, such as a NullPointerException",
    opened,
)
