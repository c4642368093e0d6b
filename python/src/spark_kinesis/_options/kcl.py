"""The position where an application of the Kinesis Client Library stopped."""

from __future__ import annotations

from dataclasses import dataclass
from datetime import datetime

from .positions import AtTimestamp, Latest, Position, PositionWord, TrimHorizon
from .values import ABSENT, require, require_word


@dataclass(frozen=True, kw_only=True, slots=True)
class FromKclTable:
    """Where an application of the Kinesis Client Library (KCL) 1, 2 or 3 stopped.

    ``KinesisSource`` reads the lease table and the records around each position when you call
    ``options``, ``read_stream`` or ``read``. It needs boto3, and the permissions to call ``Scan``
    for the table, and ``DescribeStreamSummary``, ``ListShards``, ``GetShardIterator`` and
    ``GetRecords`` for the streams. A query that has a checkpoint ignores the result, so remove this
    position after the first start. ``spark-kinesis migrate kcl`` does the same once, and writes a
    checkpoint.

    A dictionary says the same: ``{"kclTable": "orders-app", "ignoreCreationTime": True}``. Its
    other keys are ``at``, ``others``, ``dynamodbEndpoint`` and ``capacityPerSecond``. Times may be
    text, such as ``"2026-11-20T08:00Z"``.

    If the application stopped in an aggregate, the query begins with the whole aggregate.

    Attributes:
        table: name of the lease table, which is the name of the application.
        at: the time at which the application was configured to begin, if it was. The table does not
            contain it. It also replaces ``LATEST``, with which the application waits for new
            records.
        others: where to begin in shards that have nothing to do with any lease. Default: the
            source refuses such shards.
        ignore_creation_time: accept leases of several streams whose creation time is not that of
            the stream. An application may supply another one. Default: ``False``.
        dynamodb_endpoint: URL of DynamoDB. Default: that of AWS in the region of the source.
        capacity_per_second: read capacity units of the table to use per second. Default: 10.

    Raises:
        TypeError: if a field has a value of the wrong type.
        ValueError: if ``at`` has no time zone, or ``capacity_per_second`` is not greater than 0.
    """

    table: str
    at: datetime | None = None
    others: Position | PositionWord | None = None
    ignore_creation_time: bool = False
    dynamodb_endpoint: str | None = None
    capacity_per_second: float = 10.0

    def __post_init__(self) -> None:
        """Check types."""
        require("table", self.table, str)
        require("at", self.at, datetime, ABSENT)
        require("ignore_creation_time", self.ignore_creation_time, bool)
        require("dynamodb_endpoint", self.dynamodb_endpoint, str, ABSENT)
        require("capacity_per_second", self.capacity_per_second, int, float)
        if self.at is not None:
            AtTimestamp(self.at)  # refuses a time without a time zone
        if self.capacity_per_second <= 0:
            raise ValueError(
                f"capacity_per_second must be greater than 0, not {self.capacity_per_second!r}"
            )
        if isinstance(self.others, str):
            require_word("others", self.others, PositionWord)
        else:
            require("others", self.others, Latest, TrimHorizon, AtTimestamp, ABSENT)
