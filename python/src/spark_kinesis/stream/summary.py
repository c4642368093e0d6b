"""The settings of a stream."""

from __future__ import annotations

from dataclasses import dataclass
from datetime import datetime, timedelta
from email.utils import parsedate_to_datetime
from typing import TYPE_CHECKING

from .shards import stream_request

if TYPE_CHECKING:
    from mypy_boto3_kinesis import KinesisClient

PROVISIONED, ON_DEMAND = "PROVISIONED", "ON_DEMAND"


@dataclass(frozen=True, kw_only=True)
class StreamSummary:
    """The answer of ``DescribeStreamSummary``.

    Attributes:
        name: name.
        arn: ARN.
        status: ``CREATING``, ``ACTIVE``, ``UPDATING`` or ``DELETING``.
        created: creation time. A stream that is made again has another one.
        mode: ``PROVISIONED`` or ``ON_DEMAND``.
        retention: how long records are kept.
        open_shards: number of shards that accept records.
        consumers: number of consumers of enhanced fan-out.
        key: ID of the KMS key that encrypts the records. ``None`` without encryption.
        shard_metrics: names of the metrics per shard that CloudWatch receives.
        server_time: the service's clock, rounded down to a second. ``None`` if its answer has no
            time.
    """

    name: str
    arn: str
    status: str
    created: datetime
    mode: str
    retention: timedelta
    open_shards: int
    consumers: int
    key: str | None
    shard_metrics: tuple[str, ...]
    server_time: datetime | None = None


def describe(client: KinesisClient, stream: str) -> StreamSummary:
    """Describe a stream. The service allows 20 calls per second and account.

    Args:
        client: client of Kinesis.
        stream: name or ARN.

    Raises:
        botocore.exceptions.ClientError: ``ResourceNotFoundException`` without such a stream.
    """
    answer = client.describe_stream_summary(**stream_request(stream))
    found, date = answer["StreamDescriptionSummary"], answer["ResponseMetadata"]["HTTPHeaders"]
    metrics = found["EnhancedMonitoring"]
    encrypted = found.get("EncryptionType", "NONE") != "NONE"
    return StreamSummary(
        name=found["StreamName"],
        arn=found["StreamARN"],
        status=found["StreamStatus"],
        created=found["StreamCreationTimestamp"],
        mode=found.get("StreamModeDetails", {"StreamMode": PROVISIONED})["StreamMode"],
        retention=timedelta(hours=found["RetentionPeriodHours"]),
        open_shards=found["OpenShardCount"],
        consumers=found.get("ConsumerCount", 0),
        key=found.get("KeyId") if encrypted else None,
        shard_metrics=tuple(str(it) for each in metrics for it in each["ShardLevelMetrics"]),
        server_time=parsedate_to_datetime(date["date"]) if "date" in date else None,
    )
