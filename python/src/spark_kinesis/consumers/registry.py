"""The calls of Kinesis for consumers."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from datetime import datetime
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from mypy_boto3_kinesis import KinesisClient
    from mypy_boto3_kinesis.type_defs import ConsumerDescriptionTypeDef, ConsumerTypeDef

PERIOD_SECONDS = 1.0  # an account can describe 20 consumers per second
LONGEST_CHECKS = 120


@dataclass(frozen=True)
class Consumer:
    """A consumer of enhanced fan-out.

    Attributes:
        name: name, which is unique in its stream.
        arn: ARN. Another consumer of the same name has another one.
        status: ``CREATING``, ``ACTIVE`` or ``DELETING``.
        created: when it was registered.
    """

    name: str
    arn: str
    status: str
    created: datetime


class Registry:
    """The consumers of a stream."""

    def __init__(self, client: KinesisClient, stream: str, sleep: Callable[[float], None]) -> None:
        """Find the ARN of the stream, which is given by name or ARN."""
        self._client = client
        self._sleep = sleep
        self._stream = stream
        if not stream.startswith("arn:"):
            summary = client.describe_stream_summary(StreamName=stream)["StreamDescriptionSummary"]
            self._stream = summary["StreamARN"]

    def consumers(self) -> list[Consumer]:
        """All consumers of the stream, by name."""
        pages = self._client.get_paginator("list_stream_consumers").paginate(StreamARN=self._stream)
        found = [_consumer(it) for page in pages for it in page["Consumers"]]
        return sorted(found, key=lambda it: it.name)

    def find(self, name: str) -> Consumer:
        """The consumer of this name. An unknown one is an error of boto3."""
        answer = self._client.describe_stream_consumer(StreamARN=self._stream, ConsumerName=name)
        return _consumer(answer["ConsumerDescription"])

    def register(self, name: str) -> Consumer:
        """Register a consumer, and wait until it is active.

        Raises:
            TimeoutError: if it is not active after two minutes.
        """
        self._client.register_stream_consumer(StreamARN=self._stream, ConsumerName=name)
        for _ in range(LONGEST_CHECKS):
            consumer = self.find(name)
            if consumer.status == "ACTIVE":
                return consumer
            self._sleep(PERIOD_SECONDS)
        raise TimeoutError(f"consumer {consumer.arn} is still {consumer.status}")

    def deregister(self, consumer: Consumer) -> None:
        """Deregister this very consumer, and no later one of the same name."""
        self._client.deregister_stream_consumer(ConsumerARN=consumer.arn)


def _consumer(it: ConsumerTypeDef | ConsumerDescriptionTypeDef) -> Consumer:
    return Consumer(
        name=it["ConsumerName"],
        arn=it["ConsumerARN"],
        status=it["ConsumerStatus"],
        created=it["ConsumerCreationTimestamp"],
    )
