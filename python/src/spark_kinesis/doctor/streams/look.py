"""Asks Kinesis about a stream. The calls change nothing."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING

from spark_kinesis.tools.facts.streams import StreamShard, StreamSummary, describe, list_shards

if TYPE_CHECKING:
    from collections.abc import Sequence

    from mypy_boto3_kinesis import KinesisClient


@dataclass(frozen=True)
class Consumer:
    """A consumer of enhanced fan-out.

    Attributes:
        name: name, which is unique in its stream.
        arn: ARN. Another consumer of the same name has another one.
        status: ``CREATING``, ``ACTIVE`` or ``DELETING``.
    """

    name: str
    arn: str
    status: str


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
        consumers = _consumers(client, summary.arn)
    except (BotoCoreError, ClientError) as error:
        consumers = error
    return Seen(summary=summary, shards=shards, consumers=consumers)


def _consumers(client: KinesisClient, arn: str) -> list[Consumer]:
    """All consumers of a stream, by name."""
    pages = client.get_paginator("list_stream_consumers").paginate(StreamARN=arn)
    found = [
        Consumer(it["ConsumerName"], it["ConsumerARN"], it["ConsumerStatus"])
        for page in pages
        for it in page["Consumers"]
    ]
    return sorted(found, key=lambda it: it.name)
