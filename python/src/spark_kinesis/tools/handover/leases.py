"""The lease table of a KCL application, version 1, 2 or 3: reads it, and writes to it.

The attributes are those that the Kinesis Client Library (KCL) writes to its table in DynamoDB. From
KCL 3.5 on, the table may have its other items, too: the state of its workers and of their leader.
Each item then says of which type it is.
"""

from __future__ import annotations

import time
from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass, field
from datetime import datetime, timezone
from typing import TYPE_CHECKING, Any

from spark_kinesis._errors import MigrationError
from spark_kinesis._offsets import stream_name

from .positions import Stop, StopKind, StreamStops, stop_of
from .takeover import HINT

if TYPE_CHECKING:
    from mypy_boto3_kinesis import KinesisClient

    from spark_kinesis.tools.facts.streams import StreamShard

CAPACITY_PER_SECOND = 10.0
"""Capacity units per second. KCL 1 creates its tables with 10."""

_PAGE_ITEMS = 100
_KEY, _CHECKPOINT, _SUB = "leaseKey", "checkpoint", "checkpointSubSequenceNumber"
_COUNTER, _OWNER, _SWITCHES = "leaseCounter", "leaseOwner", "ownerSwitchesSinceCheckpoint"
_TYPE, _LEASE = "entityType", {"S": "LEASE"}
_OF_SEVERAL_STREAMS = 4  # account:stream:creation time:shard
# What a lease says about an owner and a checkpoint that it no longer has.
_STALE = (
    _OWNER,
    "checkpointOwner",
    "pendingCheckpoint",
    "pendingCheckpointSubSequenceNumber",
    "pendingCheckpointState",
)


@dataclass(frozen=True, kw_only=True)
class LeaseKey:
    """Which shard a lease is for.

    Attributes:
        stream: name of the stream. ``None`` in the table of an application with one stream.
        created: creation time of the stream in seconds since 1970. The application supplies it, so
            it may be another number. ``None`` likewise.
    """

    shard: str  # ID of the shard
    stream: str | None = None
    account: str | None = None  # ID of the account of the stream. ``None`` likewise.
    created: int | None = None

    @property
    def prefix(self) -> str:
        """The key without the shard. Empty for an application with one stream."""
        if self.created is None:
            return ""
        return f"{self.account}:{self.stream}:{self.created}:"


@dataclass(frozen=True, kw_only=True)
class Lease:
    """A lease.

    Attributes:
        checkpoint: sequence number of the last record that the application has processed, or
            ``TRIM_HORIZON``, ``LATEST``, ``AT_TIMESTAMP`` or ``SHARD_END``.
        item: all attributes, as DynamoDB returned them.
    """

    key: LeaseKey  # the shard
    checkpoint: str
    sub: int  # number of the last user record, if that record is an aggregate. Otherwise 0.
    counter: int  # a running application increases it every few seconds
    owner: str | None  # worker that holds the lease, or held it last
    item: Mapping[str, Any] = field(default_factory=dict, compare=False, repr=False)


def read_key(text: str) -> LeaseKey:
    """The shard of a lease from its key."""
    parts = text.split(":")
    if len(parts) != _OF_SEVERAL_STREAMS or not parts[2].isdecimal():
        return LeaseKey(shard=text)
    account, stream, created, shard = parts
    return LeaseKey(shard=shard, stream=stream, account=account, created=int(created))


def read_lease(item: Mapping[str, Any]) -> Lease | None:
    """A lease from an item of DynamoDB. ``None`` for an item of another type: KCL 3 adds some."""
    if not {_KEY, _CHECKPOINT, _COUNTER} <= set(item) or item.get(_TYPE, _LEASE) != _LEASE:
        return None
    return Lease(
        key=read_key(item[_KEY]["S"]),
        checkpoint=item[_CHECKPOINT]["S"],
        sub=int(item.get(_SUB, {"N": "0"})["N"]),
        counter=int(item[_COUNTER]["N"]),
        owner=item.get(_OWNER, {}).get("S"),
        item=item,
    )


def scan_leases(
    dynamodb: Any,
    table: str,
    capacity_per_second: float = CAPACITY_PER_SECOND,
    sleep: Callable[[float], None] = time.sleep,
) -> list[Lease]:
    """All leases of a table, with consistent reads, no faster than its capacity allows.

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


def require_stopped(table: str, before: Iterable[Lease], after: Iterable[Lease]) -> None:
    """Refuse a table that an application uses. A running one increases its counters."""
    old = {it.key: it for it in before}
    moving = [it for it in after if old.get(it.key) != it]
    if moving:
        owner = f" Its owner is {moving[0].owner}." if moving[0].owner else ""
        raise MigrationError(
            f"a KCL application is running: in table {table}, the lease of {moving[0].key.shard} "
            f"has changed while the command watched.{owner} Stop the application, and run the "
            "command again."
        )


def stops_of_leases(leases: Iterable[Lease], table: str, at: datetime | None) -> dict[str, Stop]:
    """Where the application stopped, by shard ID."""
    words = {it.value for it in StopKind}
    found = {}
    for lease in leases:
        where = f"the lease of {lease.key.shard} in table {table}"
        is_word = lease.checkpoint in words
        word = lease.checkpoint if is_word else StopKind.AFTER.value
        number = None if is_word else lease.checkpoint
        found[lease.key.shard] = stop_of(word, number, where, sub=lease.sub, time=at)
    return found


def by_stream(leases: Iterable[Lease], table: str, stream: str | None) -> dict[str, list[Lease]]:
    """The leases of each stream, by its name."""
    found: dict[str, list[Lease]] = {}
    for lease in leases:
        name = lease.key.stream or stream
        if name is None:
            raise MigrationError(
                f"the leases in table {table} do not say which stream they are for: name it with "
                "--stream"
            )
        found.setdefault(name, []).append(lease)
    if not found:
        raise MigrationError(f"table {table} has no lease of the Kinesis Client Library")
    if stream is None:
        return found
    name = stream_name(stream)
    mine = found.get(stream) or found.get(name)
    if mine is None:
        raise MigrationError(
            f"table {table} has no lease of stream {name}. It has leases of "
            f"{', '.join(sorted(found))}."
        )
    return {stream: mine}


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
        prefixes = sorted({it.key.prefix for it in mine})
        if len(prefixes) > 1:
            raise MigrationError(
                f"table {table} has leases of several streams with the name {name}: "
                f"{', '.join(it.removesuffix(':') for it in prefixes)}. Delete the leases that the "
                "application no longer uses."
            )
        key, meta, place = mine[0].key, kinesis.meta, name
        if stream is None and key.account is not None:  # the leases do not contain the region
            region = f"{meta.partition}:kinesis:{meta.region_name}"
            place = f"arn:{region}:{key.account}:stream/{key.stream}"
        created = None if ignore_creation_time else _created(table, key)
        stops = stops_of_leases(mine, table, at)
        found.append(StreamStops(stream=place, created=created, stops=stops))
    return found


def _created(table: str, key: LeaseKey) -> datetime | None:
    if key.created is None:
        return None
    try:
        return datetime.fromtimestamp(key.created, timezone.utc)
    except (ValueError, OverflowError, OSError) as error:
        raise MigrationError(
            f"in table {table}, the creation time {key.created} of stream {key.stream} "
            f"is not a time in seconds since 1970. {HINT}"
        ) from error


@dataclass(frozen=True, kw_only=True)
class NewLease:
    """The checkpoint of a shard for a KCL application.

    Attributes:
        checkpoint: sequence number of the last record that the query has read, or
            ``TRIM_HORIZON``, ``AT_TIMESTAMP`` or ``SHARD_END``.
        begins: with ``AT_TIMESTAMP`` the time at which the query begins in the shard.
    """

    shard: StreamShard  # the shard
    checkpoint: str
    sub: int = 0  # number of the last user record of that record, from 0
    begins: datetime | None = None


def write_leases(  # noqa: PLR0917 the arguments of its caller
    dynamodb: Any,
    table: str,
    leases: Sequence[NewLease],
    seen: Iterable[Lease],
    prefix: str,
    pause: Callable[[], None],
) -> None:
    """Write a lease for each shard."""
    by_key = {it.key.prefix + it.key.shard: it for it in seen}
    for number, lease in enumerate(leases):
        key = prefix + lease.shard.id
        try:
            old = by_key.get(key)
            if old is None:
                dynamodb.put_item(
                    TableName=table,
                    Item=new_item(lease, prefix),
                    ConditionExpression=f"attribute_not_exists({_KEY})",
                    ReturnValuesOnConditionCheckFailure="ALL_OLD",
                )
            else:
                dynamodb.update_item(TableName=table, **_update(lease, key, old.counter))
        except dynamodb.exceptions.ConditionalCheckFailedException as error:
            reason, remedy = _conflict(table, key, error.response.get("Item", {}))
            raise MigrationError(
                f"{reason} {number} of {len(leases)} leases are written. {remedy}, and run the "
                "command again."
            ) from error
        pause()


def _conflict(table: str, key: str, there: Mapping[str, Any]) -> tuple[str, str]:
    """Why a lease could not be written, and what to do."""
    missing = [it for it in (_CHECKPOINT, _COUNTER) if it not in there]
    if there and missing:
        lacks = " and no ".join(missing)
        reason = f"the item {key} in table {table} is not a whole lease: it has no {lacks}."
        return reason, "Delete the item"
    return (
        f"a KCL application has changed the lease {key} in table {table}.",
        "Stop the application",
    )


def new_item(lease: NewLease, prefix: str) -> dict[str, Any]:
    """A lease that is not there yet, in the form of the KCL."""
    shard = lease.shard
    made: dict[str, Any] = {
        _KEY: {"S": prefix + shard.id},
        _TYPE: _LEASE,  # earlier versions ignore it
        _COUNTER: {"N": "0"},
        _SWITCHES: {"N": "0"},
        _CHECKPOINT: {"S": lease.checkpoint},
        _SUB: {"N": str(lease.sub)},
        "startingHashKey": {"S": str(shard.first_key)},
        "endingHashKey": {"S": str(shard.last_key)},
    }
    if shard.parents:
        made["parentShardId"] = {"SS": list(shard.parents)}
    if prefix:
        made["streamName"] = {"S": prefix.removesuffix(":")}
        made["shardId"] = {"S": shard.id}
    return made


def _update(lease: NewLease, key: str, counter: int) -> dict[str, Any]:
    """The arguments of ``UpdateItem`` for a lease. Another counter: an application is running."""
    return {
        "Key": {_KEY: {"S": key}},
        "UpdateExpression": (
            f"SET {_CHECKPOINT} = :checkpoint, {_SUB} = :sub, {_SWITCHES} = :none, "
            f"{_COUNTER} = :next REMOVE {', '.join(_STALE)}"
        ),
        "ConditionExpression": f"{_COUNTER} = :seen",
        "ExpressionAttributeValues": {
            ":checkpoint": {"S": lease.checkpoint},
            ":sub": {"N": str(lease.sub)},
            ":none": {"N": "0"},
            ":next": {"N": str(counter + 1)},
            ":seen": {"N": str(counter)},
        },
    }


def create_table(dynamodb: Any, table: str) -> None:
    """Begin to create a lease table that is paid per request."""
    try:
        dynamodb.create_table(
            TableName=table,
            KeySchema=[{"AttributeName": _KEY, "KeyType": "HASH"}],
            AttributeDefinitions=[{"AttributeName": _KEY, "AttributeType": "S"}],
            BillingMode="PAY_PER_REQUEST",
        )
    except dynamodb.exceptions.ResourceInUseException as error:
        raise MigrationError(
            f"table {table} exists: run the command without --create-table"
        ) from error
