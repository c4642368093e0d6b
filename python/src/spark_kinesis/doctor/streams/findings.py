"""What the facts of a stream mean for a query. Makes no calls."""

from __future__ import annotations

from typing import TYPE_CHECKING

from spark_kinesis._times import duration_text
from spark_kinesis.doctor.aws import refused
from spark_kinesis.doctor.aws import text_of as error_text
from spark_kinesis.doctor.finding import Finding, ok, problem, unknown
from spark_kinesis.tools.facts.streams import HASH_KEYS

if TYPE_CHECKING:
    from collections.abc import Sequence

    from spark_kinesis.tools.facts.streams import StreamShard, StreamSummary

    from .look import Consumer, Seen

SECTION = "stream"
_USABLE = ("ACTIVE", "UPDATING")
_MODES = {"PROVISIONED": "provisioned", "ON_DEMAND": "on-demand"}
# Most consumers of a stream. The larger one is for accounts with the on-demand advantage mode.
_CONSUMERS, _MOST_CONSUMERS = 20, 50


def stream_findings(seen: Seen, consumer: str | None) -> list[Finding]:
    """Status, mode, shards, retention, and consumers.

    Args:
        seen: what Kinesis says.
        consumer: name or ARN of the consumer of the query. ``None`` if it polls.
    """
    summary = seen.summary
    return [
        _status(summary),
        ok(SECTION, "mode", _MODES.get(summary.mode, summary.mode)),
        _shards(seen.shards),
        ok(SECTION, "retention", f"records are kept for {duration_text(summary.retention)}"),
        ok(SECTION, "encryption", _encryption(summary)),
        ok(SECTION, "metrics per shard", ", ".join(summary.shard_metrics) or "none"),
        *_consumers(seen.consumers, consumer),
    ]


def _status(summary: StreamSummary) -> Finding:
    seen = f"stream {summary.name} is {summary.status}"
    if summary.status in _USABLE:
        return ok(SECTION, "status", f"{seen}: {summary.arn}")
    if summary.status == "CREATING":
        return problem(SECTION, "status", seen, "Wait until the stream is ACTIVE.")
    return problem(SECTION, "status", seen, "Name a stream that is not being deleted.")


def _encryption(summary: StreamSummary) -> str:
    return f"records are encrypted with KMS key {summary.key}" if summary.key else "none"


def _shards(shards: Sequence[StreamShard] | Exception) -> Finding:
    if isinstance(shards, Exception):
        return refused(SECTION, "shards", shards, "kinesis:ListShards")
    is_open = [it for it in shards if it.is_open]
    seen = f"{len(is_open)} open, {len(shards) - len(is_open)} closed"
    if sum(it.last_key - it.first_key + 1 for it in is_open) != HASH_KEYS:
        return problem(
            SECTION,
            "shards",
            f"{seen}. The open shards do not cover each hash key once",
            "Wait until the reshard is complete. A query that starts meanwhile may fail with "
            "KINESIS_INCOMPLETE_SHARD_LIST.",
        )
    return ok(SECTION, "shards", seen)


def _consumers(found: Sequence[Consumer] | Exception, wanted: str | None) -> list[Finding]:
    if isinstance(found, Exception):
        if wanted is None:  # only a query with enhanced fan-out needs the list
            remedy = "To see the list, allow kinesis:ListStreamConsumers."
            return [
                unknown(
                    SECTION, "consumers", f"the list is not readable: {error_text(found)}", remedy
                )
            ]
        return [refused(SECTION, "consumers", found, "kinesis:ListStreamConsumers")]
    names = ", ".join(f"{it.name} ({it.status})" for it in found)
    listed = ok(SECTION, "consumers", f"{len(found)}: {names}" if names else "none")
    return [listed] if wanted is None else [listed, _wanted(found, wanted)]


def _wanted(found: Sequence[Consumer], wanted: str) -> Finding:
    match = next((it for it in found if wanted in (it.name, it.arn)), None)
    if match is not None and match.status == "ACTIVE":
        return ok(SECTION, "consumer", f"{match.name} is ACTIVE: {match.arn}")
    if match is not None:
        return problem(
            SECTION,
            "consumer",
            f"{match.name} is {match.status}",
            "Wait until it is ACTIVE. If it is being deleted, name another consumer.",
        )
    if wanted.startswith("arn:"):
        return problem(
            SECTION,
            "consumer",
            f"the stream has no consumer {wanted}",
            "Correct the ARN: aws kinesis list-stream-consumers shows all. A consumer that was "
            "registered again has another ARN.",
        )
    if len(found) >= _CONSUMERS:
        return _is_full(len(found), wanted)
    seen = f"the stream has no consumer {wanted}. The query registers it when it starts"
    return ok(SECTION, "consumer", seen)


def _is_full(number: int, wanted: str) -> Finding:
    seen = f"the stream has no consumer {wanted}, and has {number} others"
    remedy = "Deregister one with aws kinesis deregister-stream-consumer, or poll."
    if number >= _MOST_CONSUMERS:
        return problem(SECTION, "consumer", seen, remedy)
    return unknown(
        SECTION,
        "consumer",
        seen,
        f"Without On-demand Advantage, a stream has at most {_CONSUMERS}. {remedy}",
    )
