"""The checks of a stream: its settings, and its read quota."""

from __future__ import annotations

from typing import TYPE_CHECKING

from spark_kinesis import SparkKinesisError
from spark_kinesis.doctor.aws import refused, text_of
from spark_kinesis.doctor.finding import unknown
from spark_kinesis.doctor.quotas import burst_finding, find_usage, read_five_times, usage_finding
from spark_kinesis.doctor.streams import Seen, stream_findings

from .base import Say, stopped

if TYPE_CHECKING:
    from spark_kinesis.doctor.finding import Finding
    from spark_kinesis.doctor.question import Question


def stream_check(question: Question, say: Say) -> list[Finding]:  # noqa: ARG001 a Check
    """Status, mode, shards, retention, and consumers."""
    seen = question.seen
    if isinstance(seen, Exception):
        return [stopped("stream", "status", seen)]
    return stream_findings(seen, question.consumer)


def quota_check(question: Question, say: Say) -> list[Finding]:  # noqa: ARG001 a Check
    """How much of the read quota is in use."""
    seen = question.seen
    if isinstance(seen, Exception):
        return []
    if question.access.is_aws:
        return [_usage(question, seen)]
    return [_burst(question, seen, "the endpoint is not that of AWS")]


def _usage(question: Question, seen: Seen) -> Finding:
    from botocore.exceptions import BotoCoreError, ClientError  # noqa: PLC0415 optional

    try:
        cloudwatch = question.access.service("cloudwatch", seen.summary.arn)
        usage = find_usage(cloudwatch, seen.summary.name, question.access.clock.now())
    except (BotoCoreError, ClientError, SparkKinesisError) as error:
        return _burst(question, seen, f"Amazon CloudWatch did not show it: {text_of(error)}")
    return usage_finding(usage, seen.summary.open_shards)


def _burst(question: Question, seen: Seen, why: str) -> Finding:
    shards = () if isinstance(seen.shards, Exception) else seen.shards
    shard = next((it.id for it in shards if it.is_open), None)
    if not question.may_probe or shard is None:
        return unknown(
            "quota",
            "reads",
            f"the use of the read quota is unknown: {why}",
            "With --probe, one shard is read five times at once to find out.",
        )
    from botocore.exceptions import BotoCoreError, ClientError  # noqa: PLC0415 optional

    client = question.access.kinesis(question.stream, attempts=1)
    try:
        return burst_finding(read_five_times(client, seen.summary.arn, shard))
    except (BotoCoreError, ClientError) as error:
        return refused("quota", "reads", error, "kinesis:GetShardIterator")
