"""What the facts of a checkpoint mean for the next start of its query. Makes no calls."""

from __future__ import annotations

from typing import TYPE_CHECKING

from spark_kinesis._times import duration_text, parsed, time_text
from spark_kinesis.checkpoint.offset import stream_name
from spark_kinesis.doctor.finding import Finding, ok, problem

from .lag import lag_finding
from .loss import loss_finding

if TYPE_CHECKING:
    from datetime import datetime

    from .facts import StreamFacts
    from .log import LogFacts

SECTION = "checkpoint"
_NEW_CHECKPOINT = "To read it, start the query with a new checkpoint location."


def log_findings(log: LogFacts, stream: str | None, now: datetime) -> list[Finding]:
    """What the log alone shows.

    Args:
        log: the log.
        stream: name or ARN of the stream of the query. ``None`` if it was not given.
        now: the time.
    """
    findings = [_readable(log, now), _next(log)]
    if stream is not None:
        findings.append(_owner(log, stream))
    return findings


def stream_findings(facts: StreamFacts, now: datetime) -> list[Finding]:
    """Whether the query can continue in a stream, and how far it is behind.

    Args:
        facts: the stream.
        now: the time at the service.
    """
    recreated = _recreated(facts)
    if recreated is not None:
        return [recreated]
    return [*_unplanned(facts), lag_finding(facts, now), loss_finding(facts, now)]


def _readable(log: LogFacts, now: datetime) -> Finding:
    when = "" if log.planned_at is None else f", {duration_text(now - log.planned_at)} ago"
    seen = f"{log.location} is readable. Spark planned micro-batch {log.planned} last{when}"
    return ok(SECTION, "log", seen)


def _next(log: LogFacts) -> Finding:
    if log.completed == log.planned:
        return ok(SECTION, "restart", f"the query continues after micro-batch {log.planned}")
    return ok(SECTION, "restart", f"micro-batch {log.planned} is not completed, and runs again")


def _owner(log: LogFacts, stream: str) -> Finding:
    arns = ", ".join(log.arns)
    if any(stream in (arn, stream_name(arn)) for arn in log.arns):
        return ok(SECTION, "streams", f"the checkpoint belongs to {arns}")
    return problem(
        SECTION,
        "streams",
        f"the checkpoint belongs to {arns}, not to {stream}",
        f"Name the streams of the checkpoint. Or, to read {stream}, use a new checkpoint location.",
    )


def _recreated(facts: StreamFacts) -> Finding | None:
    recorded, now = parsed(facts.offset.created), facts.summary.created
    if recorded is None or abs((recorded - now).total_seconds()) < 1:
        return None
    return problem(
        SECTION,
        "streams",
        f"stream {facts.name} was deleted and created again: the one in the checkpoint "
        f"was created at {time_text(recorded)}, this one at {time_text(now)}",
        f"The records of the first one are gone. {_NEW_CHECKPOINT}",
    )


def _unplanned(facts: StreamFacts) -> list[Finding]:
    shards = facts.unplanned
    if not shards:
        return []
    return [
        problem(
            SECTION,
            "shards",
            f"the query would never read {len(shards)} shards of {facts.name}: neither "
            "they nor their ancestors are in the checkpoint",
            "To read them from their oldest record, set failOnDataLoss to false. Or use a new "
            "checkpoint location.",
            tuple(shards),
        )
    ]
