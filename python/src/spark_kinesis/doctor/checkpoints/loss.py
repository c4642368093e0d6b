"""Will the next start of a query lose records, and when? Makes no calls.

The connector applies the same rule: a shard has lost nothing as long as the time up to which it was
read completely is within the retention period. See docs/adr/0006-completeness.md.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

from spark_kinesis._times import duration_text, time_text
from spark_kinesis.doctor.finding import Finding, ok, problem, unknown

if TYPE_CHECKING:
    from datetime import datetime, timedelta

    from .facts import ShardFact, StreamFacts

SECTION = "checkpoint"
_SUBJECT = "loss"
# Less than this part of the retention period is too little to react.
_NEAR = 0.1
_CONTINUE = "To continue with the records that are left, set failOnDataLoss to false."


def loss_finding(facts: StreamFacts, now: datetime) -> Finding:
    """When a restart begins to lose records."""
    retention = facts.summary.retention
    lost_at = {it: it.lost_at(retention) for it in facts.shards if not it.is_finished}
    expired = [it for it in lost_at if not it.is_listed]
    lost = [it for it, time in lost_at.items() if time is not None and time <= now]
    if expired or lost:
        return _lost(facts, [*expired, *(it for it in lost if it.is_listed)])
    times = {it.id: time for it, time in lost_at.items() if time is not None}
    if not times:
        return _without_times(facts)
    shard = min(times, key=lambda it: times[it])
    return _until(facts, shard, times[shard], now)


def _until(facts: StreamFacts, shard: str, time: datetime, now: datetime) -> Finding:
    left = time - now
    seen = f"a restart of {facts.name} before {time_text(time)} loses nothing"
    if left > facts.summary.retention * _NEAR:
        return ok(SECTION, _SUBJECT, f"{seen}: {duration_text(left)} are left")
    return problem(
        SECTION,
        _SUBJECT,
        f"{seen}. Only {duration_text(left)} are left, because of {shard}",
        "Start the query now, or increase the retention period of the stream first.",
    )


def _lost(facts: StreamFacts, shards: list[ShardFact]) -> Finding:
    name, retention = facts.name, duration_text(facts.summary.retention)
    return problem(
        SECTION,
        _SUBJECT,
        f"a restart fails with KINESIS_DATA_LOSS: records of {len(shards)} shards of {name} may "
        f"have expired before the query read them, because they are kept for {retention}",
        f"{_CONTINUE} An increased retention period does not bring expired records back.",
        tuple(_loss_line(it, facts.summary.retention) for it in shards),
    )


def _loss_line(fact: ShardFact, retention: timedelta) -> str:
    if not fact.is_listed:
        return f"{fact.id}: Kinesis no longer has it, and the query has not finished it"
    time = fact.lost_at(retention)
    since = "an unknown time" if time is None else time_text(time - retention)
    return f"{fact.id}: records that arrived after {since} may be lost"


def _without_times(facts: StreamFacts) -> Finding:
    name = facts.name
    if any(it.is_read for it in facts.shards):
        return unknown(
            SECTION,
            _SUBJECT,
            f"the checkpoint does not say up to when {name} was read completely",
        )
    return ok(SECTION, _SUBJECT, f"{name} is read from its oldest record, so nothing can be lost")
