"""Reads the lease table of a KCL application, no faster than its capacity allows."""

from __future__ import annotations

import time
from collections.abc import Callable
from datetime import datetime, timezone
from typing import TYPE_CHECKING, Any

from spark_kinesis._errors import MigrationError
from spark_kinesis.migrate.migration import HINT
from spark_kinesis.migrate.stops import StreamStops

from .leases import Lease, by_stream, read_lease, stops_of_leases

if TYPE_CHECKING:
    from mypy_boto3_kinesis import KinesisClient

CAPACITY_PER_SECOND = 10.0
"""Capacity units per second. KCL 1 creates its tables with 10."""

_PAGE_ITEMS = 100


def scan_leases(
    dynamodb: Any,
    table: str,
    capacity_per_second: float = CAPACITY_PER_SECOND,
    sleep: Callable[[float], None] = time.sleep,
) -> list[Lease]:
    """All leases of a table, with consistent reads.

    Args:
        dynamodb: boto3's client of DynamoDB.
        table: name of the table, which is that of the application.
        capacity_per_second: read capacity units to use per second, greater than 0.
        sleep: waits a number of seconds.

    Raises:
        MigrationError: if there is no such table.
        botocore.exceptions.ClientError: if a call fails.
    """
    request: dict[str, Any] = {
        "TableName": table,
        "ConsistentRead": True,
        "Limit": _PAGE_ITEMS,
        "ReturnConsumedCapacity": "TOTAL",
    }
    found: list[Lease] = []
    while True:
        try:
            answer = dynamodb.scan(**request)
        except dynamodb.exceptions.ResourceNotFoundException as error:
            raise MigrationError(
                f"there is no table {table} in {dynamodb.meta.region_name}. The KCL names its "
                "lease table after the application."
            ) from error
        found += [lease for item in answer["Items"] if (lease := read_lease(item)) is not None]
        if "LastEvaluatedKey" not in answer:
            return found
        request["ExclusiveStartKey"] = answer["LastEvaluatedKey"]
        used = answer.get("ConsumedCapacity", {}).get("CapacityUnits", 0.0)
        sleep(used / capacity_per_second)


def kcl_streams(
    leases: list[Lease],
    table: str,
    kinesis: KinesisClient,
    stream: str | None,
    at: datetime | None,
    *,
    ignore_creation_time: bool = False,
) -> list[StreamStops]:
    """The streams of an application, and where it stopped in each.

    Args:
        leases: all leases of its table.
        table: name of the table.
        kinesis: client of Kinesis, for the region of streams in other accounts.
        stream: name or ARN; required if the leases do not name their stream.
        at: the time at which the application was configured to begin, if it was.
        ignore_creation_time: whether the creation times in the leases are no times of the streams.

    Raises:
        MigrationError: if the leases do not fit, or if those of a stream have several creation
            times.
    """
    found = []
    for name, mine in by_stream(leases, table, stream).items():
        key = mine[0].key
        _require_one(table, name, mine)
        place = name if stream is not None or key.account is None else _arn(kinesis, mine[0])
        stops = stops_of_leases(mine, table, at)
        created = None if ignore_creation_time else _created(table, mine[0])
        found.append(StreamStops(stream=place, created=created, stops=stops))
    return found


def _require_one(table: str, name: str, leases: list[Lease]) -> None:
    prefixes = sorted({it.key.prefix for it in leases})
    if len(prefixes) > 1:
        raise MigrationError(
            f"table {table} has leases of several streams with the name {name}: "
            f"{', '.join(it.removesuffix(':') for it in prefixes)}. Delete the leases that the "
            "application no longer uses."
        )


def _created(table: str, lease: Lease) -> datetime | None:
    if lease.key.created is None:
        return None
    try:
        return datetime.fromtimestamp(lease.key.created, timezone.utc)
    except (ValueError, OverflowError, OSError) as error:
        raise MigrationError(
            f"in table {table}, the creation time {lease.key.created} of stream {lease.key.stream} "
            f"is not a time in seconds since 1970. {HINT}"
        ) from error


def _arn(kinesis: KinesisClient, lease: Lease) -> str:
    """The ARN of a stream, whose region the leases do not contain."""
    meta, key = kinesis.meta, lease.key
    return f"arn:{meta.partition}:kinesis:{meta.region_name}:{key.account}:stream/{key.stream}"
