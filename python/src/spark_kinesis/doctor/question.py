"""What is examined, and what several checks need to know about it."""

from __future__ import annotations

from dataclasses import dataclass
from functools import cached_property
from typing import TYPE_CHECKING

from spark_kinesis import SparkKinesisError

from .streams import Seen, look_at

if TYPE_CHECKING:
    from pyspark.sql import SparkSession

    from .aws import Access


@dataclass(kw_only=True)
class Question:
    """What is examined.

    Attributes:
        access: as whom and where AWS is called.
        stream: name or ARN of a stream, or ``None``.
        checkpoint: folder of a query's checkpoint, or ``None``.
        consumer: name or ARN of the consumer of the query, or ``None``.
        uses: what the query does with the stream: ``read``, ``write``, ``exactly-once``.
        may_probe: whether a shard may be read five times at once.
        spark: a Spark session; ``None`` for the active one.
        identity: ARN of the caller, as soon as it is known.
    """

    access: Access
    stream: str | None = None
    checkpoint: str | None = None
    consumer: str | None = None
    uses: tuple[str, ...] = ("read",)
    may_probe: bool = False
    spark: SparkSession | None = None
    identity: str | None = None

    @cached_property
    def seen(self) -> Seen | Exception:
        """What Kinesis says about the stream, or why it says nothing. Asks once.

        Raises:
            ValueError: without a stream.
        """
        if self.stream is None:
            raise ValueError("no stream was named")
        try:
            client = self.access.kinesis(self.stream)
        except SparkKinesisError as error:
            return error
        from botocore.exceptions import BotoCoreError, ClientError  # noqa: PLC0415 optional

        try:
            return look_at(client, self.stream)
        except (BotoCoreError, ClientError) as error:
            return error
