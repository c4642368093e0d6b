"""Enhanced fan-out or polling."""

from __future__ import annotations

from typing import TYPE_CHECKING

from spark_kinesis.tools.facts.records import MIB, READ_BYTES

from .choice import Choice
from .prices import fan_out_on_demand, fan_out_provisioned

if TYPE_CHECKING:
    from .traffic import Traffic

QUESTION = "reading"
_BUSY = 0.8
# One polling application calls a busy shard each 200 ms. Several share the five calls per second.
_POLL_MS = 200
_SOME_THROTTLED = 0.05  # refused reads per second and shard


def advise_readers(traffic: Traffic, delay_ms: float | None) -> Choice:
    """Poll while the read quota and the wanted delay allow it.

    Args:
        traffic: the traffic.
        delay_ms: longest delay that is good enough, in milliseconds. ``None`` if it does not
            matter.
    """
    per_shard = traffic.peak.bytes / max(1, traffic.wanted_shards)
    used = per_shard * traffic.pollers / READ_BYTES
    longest = float(_POLL_MS * traffic.pollers)
    cost = (
        fan_out_on_demand(traffic)
        if traffic.mode == "ON_DEMAND"
        else fan_out_provisioned(traffic, traffic.wanted_shards)
    )
    causes = _causes(traffic, used, longest, delay_ms)
    figures = {
        "read_quota_used": used,
        "polling_delay_ms": longest,
        "fan_out_usd_per_month": cost,
        "polling_applications": float(traffic.pollers),
    }
    price = f"A consumer costs {cost:,.0f} USD per month more than polling."
    if causes:
        answer, reasons = "fan-out (consumerMode=efo)", (*causes, price)
    else:
        answer, reasons = (
            "polling (consumerMode=polling)",
            (
                (
                    f"{_readers(traffic.pollers)} {used:.0%} of the read quota of a shard "
                    f"({READ_BYTES // MIB} MiB/s)."
                ),
                f"A record waits at most {longest:.0f} ms on a busy shard, and 1 s on an idle one.",
                price,
            ),
        )
    return Choice(question=QUESTION, answer=answer, reasons=reasons, figures=figures)


def _causes(
    traffic: Traffic, used: float, longest: float, delay_ms: float | None
) -> tuple[str, ...]:
    causes = []
    if used > _BUSY:
        causes.append(
            f"{_readers(traffic.pollers)} {used:.0%} of the read quota of a shard in the busiest "
            f"minute. Above {_BUSY:.0%}, a query that is behind does not catch up."
        )
    if delay_ms is not None and delay_ms < longest:
        causes.append(
            f"With {traffic.pollers} polling applications, a record waits up to {longest:.0f} ms "
            f"on a busy shard. You want {delay_ms:.0f} ms."
        )
    if traffic.reads_throttled > _SOME_THROTTLED * max(1, traffic.shards):
        causes.append(
            f"Kinesis refuses {traffic.reads_throttled:.2g} reads per second, because "
            "applications share the quota of five calls and 2 MiB per second and shard."
        )
    return tuple(causes)


def _readers(count: int) -> str:
    return "One polling application uses" if count == 1 else f"{count} polling applications use"
