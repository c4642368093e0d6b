"""Asks Kinesis about a stream. The calls change nothing."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING

from spark_kinesis.consumers.registry import Consumer, Registry
from spark_kinesis.tools.facts.streams import StreamShard, StreamSummary, describe, list_shards

if TYPE_CHECKING:
    from collections.abc import Sequence

    from mypy_boto3_kinesis import KinesisClient


@dataclass(frozen=True, kw_only=True)
class Seen:
    """What Kinesis says about a stream.

    Attributes:
        summary: its description.
        shards: its shards, or the error of ``ListShards``.
        consumers: its consumers, or the error of ``ListStreamConsumers``.
    """

    summary: StreamSummary
    shards: Sequence[StreamShard] | Exception
    consumers: Sequence[Consumer] | Exception


def look_at(client: KinesisClient, stream: str) -> Seen:
    """Ask about a stream.

    Args:
        client: client of Kinesis.
        stream: name or ARN.

    Raises:
        botocore.exceptions.ClientError: if the stream cannot be described.
        botocore.exceptions.BotoCoreError: if Kinesis cannot be called.
    """
    from botocore.exceptions import BotoCoreError, ClientError  # noqa: PLC0415 optional

    summary = describe(client, stream)
    shards: Sequence[StreamShard] | Exception
    consumers: Sequence[Consumer] | Exception
    try:
        shards = list_shards(client, summary.arn)
    except (BotoCoreError, ClientError) as error:
        shards = error
    try:
        consumers = Registry(client, summary.arn, _never).consumers()
    except (BotoCoreError, ClientError) as error:
        consumers = error
    return Seen(summary=summary, shards=shards, consumers=consumers)


def _never(seconds: float) -> None:
    """A list of consumers needs no pause."""
    raise AssertionError(seconds)
