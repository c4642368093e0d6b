"""How much of the read quota of a stream is in use."""

from __future__ import annotations

from concurrent.futures import ThreadPoolExecutor
from datetime import datetime, timedelta
from typing import TYPE_CHECKING, Any

from spark_kinesis._boto import code_of
from spark_kinesis.tools.facts.cloudwatch import (
    READ_BYTES,
    READS_REFUSED,
    Query,
    read_metrics,
)
from spark_kinesis.tools.facts.records import MIB, READ_CALLS, THROTTLED
from spark_kinesis.tools.facts.records import READ_BYTES as MOST_BYTES

from .finding import Finding, Section
from .refusals import call_errors, refused, text_of

if TYPE_CHECKING:
    from mypy_boto3_kinesis import KinesisClient

    from .setup import Setup
    from .stream import Seen

QUOTA = Section("quota")
_WINDOW = timedelta(minutes=15)
_READS = Query("GetRecords.Success")
_BUSY = 0.8
_REFUSALS = 0.01  # part of all calls. The source itself is refused now and then.
_REMEDY = (
    "Use enhanced fan-out, or let fewer applications poll the stream: see "
    "docs/how-to/enhanced-fan-out.md."
)


def quota_check(setup: Setup) -> list[Finding]:
    """How much of the read quota is in use, by CloudWatch, or else by reads if they are allowed."""
    seen = setup.seen
    if seen is None:
        return []
    if not setup.is_aws:
        return [_probe(setup, seen, "the endpoint is not that of AWS")]
    summary = seen.summary
    try:
        cloudwatch = setup.service("cloudwatch", summary.arn)
        return [usage_finding(cloudwatch, summary.name, summary.open_shards, setup.clock.now())]
    except call_errors() as error:
        return [_probe(setup, seen, f"Amazon CloudWatch did not show it: {text_of(error)}")]


def usage_finding(cloudwatch: Any, stream: str, shards: int, now: datetime) -> Finding:
    """How much all polling readers use, the query itself among them.

    Args:
        cloudwatch: client of Amazon CloudWatch.
        stream: name of the stream.
        shards: number of open shards.
        now: the time.

    Raises:
        botocore.exceptions.ClientError: if ``cloudwatch:GetMetricData`` is not allowed.
    """
    queries = (_READS, READ_BYTES, READS_REFUSED)
    found = read_metrics(cloudwatch, stream, queries, now - _WINDOW, now)
    reads, refusals = found[_READS], found[READS_REFUSED]
    calls, size = (found[it].peak / max(shards, 1) for it in (_READS, READ_BYTES))
    refused_calls = refusals.average * _WINDOW.total_seconds()
    seen = (
        f"in the busiest of the last 15 minutes, all polling readers together used {calls:.1f} of "
        f"{READ_CALLS} calls and {size / MIB:.2f} of 2 MiB per second and shard, on average over "
        f"the shards. {refused_calls:.0f} calls were refused in these 15 minutes"
    )
    is_refused = refusals.average > (reads.average + refusals.average) * _REFUSALS
    if is_refused or max(calls / READ_CALLS, size / MOST_BYTES) >= _BUSY:
        return QUOTA.problem("reads", seen, _REMEDY)
    return QUOTA.ok("reads", seen)


def _probe(setup: Setup, seen: Seen, why: str) -> Finding:
    shard = seen.open_shard
    if not setup.may_probe or shard is None:
        return QUOTA.unknown(
            "reads",
            f"the use of the read quota is unknown: {why}",
            "With --probe, one shard is read five times at once to find out.",
        )
    return probe_finding(setup.kinesis(setup.stream, attempts=1), seen.summary.arn, shard)


def probe_finding(client: KinesisClient, arn: str, shard: str) -> Finding:
    """How much other readers use while the tip of one shard is read five times at once.

    Args:
        client: client of Kinesis that repeats no call.
        arn: ARN of the stream.
        shard: ID of an open shard.
    """
    try:
        tip = client.get_shard_iterator(StreamARN=arn, ShardId=shard, ShardIteratorType="LATEST")
    except call_errors() as error:
        return refused(QUOTA, "reads", error, "kinesis:GetShardIterator")

    def read(_: int) -> Exception | None:
        try:
            client.get_records(ShardIterator=tip["ShardIterator"], Limit=1, StreamARN=arn)
        except call_errors() as error:
            return error
        return None

    with ThreadPoolExecutor(READ_CALLS) as threads:
        errors = [it for it in threads.map(read, range(READ_CALLS)) if it is not None]
    others = [it for it in errors if code_of(it) != THROTTLED]
    if others:
        seen = f"{shard} could not be read five times: {text_of(others[0])}"
        return QUOTA.unknown("reads", seen, "Try again later.")
    seen = f"{shard} refused {len(errors)} of {READ_CALLS} reads at once"
    if not errors:
        return QUOTA.ok("reads", f"{seen}, so no other reader used its quota")
    seen += f", so other readers used about {len(errors)} of its {READ_CALLS} reads per second"
    if len(errors) / READ_CALLS >= _BUSY:
        return QUOTA.problem("reads", seen, _REMEDY)
    return QUOTA.ok("reads", seen)
