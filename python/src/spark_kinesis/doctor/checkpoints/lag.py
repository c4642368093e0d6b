"""How far a query is behind in each shard. Makes no calls."""

from __future__ import annotations

from typing import TYPE_CHECKING

from spark_kinesis._times import duration_text
from spark_kinesis.doctor.finding import Finding, ok, unknown

if TYPE_CHECKING:
    from collections.abc import Sequence
    from datetime import datetime

    from spark_kinesis.stream import Probe

    from .facts import ShardFact, StreamFacts

SECTION = "checkpoint"


def lag_finding(facts: StreamFacts, now: datetime) -> Finding:
    """The largest lag, and a line per shard.

    Args:
        facts: the stream.
        now: the time at the service.
    """
    name = facts.name
    lines = tuple(f"{it.id}: {_place(it, now)}" for it in facts.shards)
    probed = {it.id: it.probe for it in facts.shards if it.probe is not None}
    if not probed:
        return _without_probe(facts, lines)
    lags = {shard: found.age(now) for shard, found in probed.items()}
    worst = max(lags, key=lambda it: lags[it])
    seen = f"{name} is at most {duration_text(lags[worst])} behind, in {worst}"
    if not lags[worst]:
        seen = f"{name} is read to its end{_except(list(probed.values()))}"
    if len(probed) < len(facts.shards):
        seen += f". {len(facts.shards) - len(probed)} of {len(facts.shards)} shards were not read"
    return ok(SECTION, "lag", seen, lines)


def _without_probe(facts: StreamFacts, lines: tuple[str, ...]) -> Finding:
    refusals: Sequence[str] = [it.refusal for it in facts.shards if it.refusal is not None]
    if not refusals:
        return ok(SECTION, "lag", f"no shard of {facts.name} can be read yet", lines)
    return unknown(SECTION, "lag", f"no shard of {facts.name} could be read: {refusals[0]}")


def _except(probes: Sequence[Probe]) -> str:
    """The records that arrived at this moment, by a clock that is rounded down."""
    unread = sum(it.arrived is not None for it in probes)
    if not unread:
        return ""
    return f", except {unread} {'record' if unread == 1 else 'records'}"


def _place(fact: ShardFact, now: datetime) -> str:
    if fact.is_finished:
        return "finished"
    if not fact.is_listed:
        return "Kinesis no longer has it"
    if fact.offset.waits_for:
        return f"waits for {', '.join(fact.offset.waits_for)}"
    return _found(fact.probe, now) if fact.probe is not None else fact.refusal or "was not read"


def _found(probe: Probe, now: datetime) -> str:
    if probe.is_end:
        return "read to its end"
    lag = probe.age(now)
    if probe.arrived is None and not lag:
        return "read to its newest record"
    return f"{duration_text(lag)} behind"
