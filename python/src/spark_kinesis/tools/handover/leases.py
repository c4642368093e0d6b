"""The lease table of a KCL application, version 1, 2 or 3: reads it, and writes to it.

The attributes are those that the Kinesis Client Library (KCL) writes to its table in DynamoDB. From
KCL 3.5 on, the table may have its other items, too: the state of its workers and of their leader.
Each item then says of which type it is.
"""

from __future__ import annotations

import re
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, field
from datetime import datetime
from typing import TYPE_CHECKING, Any

from spark_kinesis._errors import MigrationError
from spark_kinesis._offsets import stream_name

from .positions import Stops, stop_of

if TYPE_CHECKING:
    from mypy_boto3_kinesis import KinesisClient

    from spark_kinesis.tools.facts.streams import StreamShard

_KEY, _CHECKPOINT, _SUB = "leaseKey", "checkpoint", "checkpointSubSequenceNumber"
_COUNTER, _OWNER, _SWITCHES = "leaseCounter", "leaseOwner", "ownerSwitchesSinceCheckpoint"
_TYPE, _LEASE = "entityType", {"S": "LEASE"}
# The key of an application with several streams: account, stream, creation time and shard.
_OF_SEVERAL_STREAMS = re.compile(r"([^:]+):([^:]+):\d+:([^:]+)")
# What a lease says about an owner and a checkpoint that it no longer has.
_STALE = (
    _OWNER,
    "checkpointOwner",
    "pendingCheckpoint",
    "pendingCheckpointSubSequenceNumber",
    "pendingCheckpointState",
)


@dataclass(frozen=True, kw_only=True)
class Lease:
    """A lease.

    Attributes:
        stream: name of the stream. ``None`` in the table of an application with one stream.
        account: ID of the account of the stream. ``None`` likewise.
        checkpoint: sequence number of the last record that the application has processed, or
            ``TRIM_HORIZON``, ``LATEST``, ``AT_TIMESTAMP`` or ``SHARD_END``.
        sub: number of the last user record, if that record is an aggregate. Otherwise 0.
        counter: a running application increases it every few seconds.
        owner: worker that holds the lease, or held it last.
        item: all attributes, as DynamoDB returned them.
    """

    key: str
    shard: str
    stream: str | None
    account: str | None
    checkpoint: str
    sub: int
    counter: int
    owner: str | None
    item: Mapping[str, Any] = field(default_factory=dict, compare=False, repr=False)

    @property
    def prefix(self) -> str:
        """The key without the shard. Empty for an application with one stream."""
        return self.key.removesuffix(self.shard)


def read_lease(item: Mapping[str, Any]) -> Lease | None:
    """A lease from an item of DynamoDB. ``None`` for an item of another type: KCL 3 adds some."""
    if not {_KEY, _CHECKPOINT, _COUNTER} <= set(item) or item.get(_TYPE, _LEASE) != _LEASE:
        return None
    key = item[_KEY]["S"]
    several = _OF_SEVERAL_STREAMS.fullmatch(key)
    return Lease(
        key=key,
        shard=several[3] if several else key,
        stream=several[2] if several else None,
        account=several[1] if several else None,
        checkpoint=item[_CHECKPOINT]["S"],
        sub=int(item.get(_SUB, {"N": "0"})["N"]),
        counter=int(item[_COUNTER]["N"]),
        owner=item.get(_OWNER, {}).get("S"),
        item=item,
    )


def scan_leases(dynamodb: Any, table: str) -> list[Lease]:
    """All leases of a table, with consistent reads.

    Raises:
        MigrationError: if there is no such table.
        botocore.exceptions.ClientError: if a call fails.
    """
    try:
        pages = dynamodb.get_paginator("scan").paginate(TableName=table, ConsistentRead=True)
        items = [it for page in pages for it in page["Items"]]
    except dynamodb.exceptions.ResourceNotFoundException as error:
        raise MigrationError(
            f"there is no table {table} in {dynamodb.meta.region_name}. The KCL names its lease "
            "table after the application, and creates it when the application first runs."
        ) from error
    return [lease for item in items if (lease := read_lease(item)) is not None]


def require_stopped(table: str, before: Iterable[Lease], after: Iterable[Lease]) -> None:
    """Refuse a table that an application uses. A running one increases its counters."""
    old = {it.key: it for it in before}
    moving = [it for it in after if old.get(it.key) != it]
    if moving:
        owner = f" Its owner is {moving[0].owner}." if moving[0].owner else ""
        raise MigrationError(
            f"a KCL application is running: in table {table}, the lease of {moving[0].shard} "
            f"has changed while the command watched.{owner} Stop the application, and run the "
            "command again."
        )


def kcl_stops(
    leases: Iterable[Lease], table: str, kinesis: KinesisClient, stream: str | None = None
) -> Stops:
    """Where an application stopped in each of its streams.

    Args:
        leases: all leases of its table.
        table: name of the table.
        kinesis: client of Kinesis, for the region of streams in other accounts.
        stream: name or ARN; required if the leases do not name their stream.

    Raises:
        MigrationError: if the leases do not fit, or if two are of the same shard.
    """
    meta = kinesis.meta
    found: Stops = {}
    for it in leases:
        if it.stream is None and stream is None:
            raise MigrationError(
                f"the leases in table {table} do not say which stream they are for: name it with "
                "--stream"
            )
        place = f"arn:{meta.partition}:kinesis:{meta.region_name}:{it.account}:stream/{it.stream}"
        if stream is not None and it.stream in (None, stream_name(stream)):
            place = stream
        stops = found.setdefault(place, {})
        if it.shard in stops:
            raise MigrationError(
                f"table {table} has two leases of {it.shard} of stream {it.stream}, one with the "
                f"key {it.key}. Delete the leases that the application no longer uses."
            )
        where = f"the lease of {it.shard} in table {table}"
        stops[it.shard] = stop_of(None, it.checkpoint, where, sub=it.sub)
    wanted = found if stream is None else {name: it for name, it in found.items() if name == stream}
    if not wanted:
        if not found:
            raise MigrationError(f"table {table} has no leases")
        streams = ", ".join(map(stream_name, found))
        raise MigrationError(
            f"table {table} has no lease of stream {stream}. It has leases of {streams}."
        )
    return wanted


@dataclass(frozen=True, kw_only=True)
class NewLease:
    """The checkpoint of a shard for a KCL application.

    Attributes:
        checkpoint: sequence number of the last record that the query has read, or
            ``TRIM_HORIZON``, ``AT_TIMESTAMP`` or ``SHARD_END``.
        sub: number of the last user record of that record, from 0.
        begins: with ``AT_TIMESTAMP`` the time at which the query begins in the shard.
    """

    shard: StreamShard
    checkpoint: str
    sub: int = 0
    begins: datetime | None = None
    prefix: str = ""  # of the key, as in ``Lease``

    @property
    def key(self) -> str:
        """The key of the lease."""
        return self.prefix + self.shard.id


def write_leases(
    dynamodb: Any, table: str, leases: Sequence[NewLease], seen: Iterable[Lease]
) -> None:
    """Write a lease for each shard."""
    by_key = {it.key: it for it in seen}
    for number, lease in enumerate(leases):
        old = by_key.get(lease.key)
        try:
            if old is None:
                dynamodb.put_item(
                    TableName=table,
                    Item=new_item(lease),
                    ConditionExpression=f"attribute_not_exists({_KEY})",
                )
            else:
                dynamodb.update_item(TableName=table, **_update(lease, old.counter))
        except dynamodb.exceptions.ConditionalCheckFailedException as error:
            raise MigrationError(
                f"the lease {lease.key} in table {table} has changed, or is not a whole one. "
                f"{number} of {len(leases)} leases are written. Stop the application, or delete "
                "the item, and run the command again."
            ) from error


def new_item(lease: NewLease) -> dict[str, Any]:
    """A lease that is not there yet, in the form of the KCL."""
    shard = lease.shard
    made: dict[str, Any] = {
        _KEY: {"S": lease.key},
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
    if lease.prefix:
        made["streamName"] = {"S": lease.prefix.removesuffix(":")}
        made["shardId"] = {"S": shard.id}
    return made


def _update(lease: NewLease, counter: int) -> dict[str, Any]:
    """The arguments of ``UpdateItem`` for a lease. Another counter: an application is running."""
    return {
        "Key": {_KEY: {"S": lease.key}},
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
