"""Is the stream as a query needs it, and how much of its read quota is in use?"""

from __future__ import annotations

from collections.abc import Iterator
from datetime import datetime, timedelta
from typing import TYPE_CHECKING, Any

from spark_kinesis._boto import code_of
from spark_kinesis._times import duration_text
from spark_kinesis.tools.facts.cloudwatch import read_metrics
from spark_kinesis.tools.facts.records import MIB, READ_CALLS
from spark_kinesis.tools.facts.records import READ_BYTES as MOST_BYTES
from spark_kinesis.tools.facts.streams import describe, list_shards

from .finding import Finding, Section, call_errors, text_of

if TYPE_CHECKING:
    from spark_kinesis.tools.facts.streams import StreamSummary

    from .finding import Setup

STREAM, QUOTA = Section("stream"), Section("quota")
_WINDOW = timedelta(minutes=15)
_READS, _READ_BYTES = "GetRecords.Success", "GetRecords.Bytes"
_REFUSED = "ReadProvisionedThroughputExceeded"
_BUSY = 0.8
_REFUSALS = 0.01  # part of all calls. The source itself is refused now and then.


def stream_check(setup: Setup) -> Iterator[Finding]:
    """The settings of the stream. The later checks use what is seen here."""
    try:
        client = setup.kinesis(setup.stream)
        summary = setup.summary = describe(client, setup.stream or "")
    except call_errors() as error:
        yield STREAM.refused("status", error, "kinesis:DescribeStreamSummary")
        return
    yield _status(summary)
    try:
        setup.shards = list_shards(client, summary.arn)
        count = sum(it.is_open for it in setup.shards)
        yield STREAM.ok("shards", f"{count} open, {len(setup.shards) - count} closed")
    except call_errors() as error:
        yield STREAM.refused("shards", error, "kinesis:ListShards")
    yield STREAM.ok("retention", f"records are kept for {duration_text(summary.retention)}")
    if setup.consumer is not None:
        yield _consumer(setup, summary, setup.consumer)
    key = f"the KMS key {summary.key}" if summary.key else "none"
    yield STREAM.ok("encryption", key)


def _status(summary: StreamSummary) -> Finding:
    seen = f"stream {summary.name} is {summary.status}"
    if summary.status in ("ACTIVE", "UPDATING"):
        return STREAM.ok("status", f"{seen}, in mode {summary.mode}: {summary.arn}")
    remedy = "Wait until it is ACTIVE. If it is being deleted, name another stream."
    return STREAM.problem("status", seen, remedy)


def _consumer(setup: Setup, summary: StreamSummary, consumer: str) -> Finding:
    """The consumer of a query with enhanced fan-out."""
    client = setup.kinesis(setup.stream)
    try:
        found = client.describe_stream_consumer(**consumer_request(summary.arn, consumer))
    except call_errors() as error:
        if code_of(error) == "ResourceNotFoundException" and not consumer.startswith("arn:"):
            seen = f"the stream has no consumer {consumer}. The query registers it when it starts"
            return STREAM.ok("consumer", seen)
        return STREAM.refused("consumer", error, "kinesis:DescribeStreamConsumer")
    setup.has_consumer = True
    status = found["ConsumerDescription"]["ConsumerStatus"]
    if status == "ACTIVE":
        return STREAM.ok("consumer", f"{consumer} is ACTIVE")
    remedy = "Wait until it is ACTIVE. If it is being deleted, name another consumer."
    return STREAM.problem("consumer", f"{consumer} is {status}", remedy)


def consumer_request(arn: str, consumer: str) -> Any:
    """The arguments of ``DescribeStreamConsumer`` for the name or ARN of a consumer."""
    by_name = {"StreamARN": arn, "ConsumerName": consumer}
    return {"ConsumerARN": consumer} if consumer.startswith("arn:") else by_name


def quota_check(setup: Setup) -> Iterator[Finding]:
    """How much of the read quota is in use, by CloudWatch."""
    summary = setup.summary
    if summary is None:
        return
    unknown = "the use of the read quota is unknown:"
    if not setup.is_aws:
        yield QUOTA.unknown("reads", f"{unknown} the endpoint is not that of AWS")
        return
    try:
        cloudwatch = setup.service("cloudwatch", summary.arn)
        yield usage_finding(cloudwatch, summary.name, summary.open_shards, setup.now())
    except call_errors() as error:
        remedy = "To see it, allow cloudwatch:GetMetricData."
        yield QUOTA.unknown("reads", f"{unknown} {text_of(error)}", remedy)


def usage_finding(cloudwatch: Any, stream: str, shards: int, now: datetime) -> Finding:
    """How much all polling readers of the open shards use, the query itself among them."""
    queries = (_READS, _READ_BYTES, _REFUSED)
    found = read_metrics(cloudwatch, stream, queries, now - _WINDOW, now)
    reads, refusals = found[_READS], found[_REFUSED]
    calls, size = (found[it].peak / max(shards, 1) for it in (_READS, _READ_BYTES))
    refused_calls = refusals.average * _WINDOW.total_seconds()
    seen = (
        f"in the busiest of the last 15 minutes, all polling readers together used {calls:.1f} of "
        f"{READ_CALLS} calls and {size / MIB:.2f} of 2 MiB per second and shard, on average over "
        f"the shards. {refused_calls:.0f} calls were refused in these 15 minutes"
    )
    is_refused = refusals.average > (reads.average + refusals.average) * _REFUSALS
    if is_refused or max(calls / READ_CALLS, size / MOST_BYTES) >= _BUSY:
        return QUOTA.problem(
            "reads",
            seen,
            "Use enhanced fan-out, or let fewer applications poll the stream: see "
            "docs/how-to/enhanced-fan-out.md.",
        )
    return QUOTA.ok("reads", seen)
