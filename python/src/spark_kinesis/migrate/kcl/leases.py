"""The leases of the Kinesis Client Library (KCL) 1, 2 and 3, as its table in DynamoDB stores them.

The attributes are those of ``DynamoDBLeaseSerializer`` in the KCL's source.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from dataclasses import dataclass
from datetime import datetime
from typing import Any

from spark_kinesis._errors import MigrationError
from spark_kinesis.migrate.stops import Stop, StopKind, stop_of

KEY, CHECKPOINT, SUB, COUNTER, OWNER = (
    "leaseKey",
    "checkpoint",
    "checkpointSubSequenceNumber",
    "leaseCounter",
    "leaseOwner",
)
_OF_SEVERAL_STREAMS = 4  # account:stream:creation time:shard


@dataclass(frozen=True, kw_only=True)
class LeaseKey:
    """Which shard a lease is for.

    Attributes:
        shard: ID of the shard.
        stream: name of the stream. ``None`` in the table of an application with one stream.
        account: ID of the account of the stream. ``None`` likewise.
        created: creation time of the stream in seconds since 1970. The application supplies it, so
            it may be another number. ``None`` likewise.
    """

    shard: str
    stream: str | None = None
    account: str | None = None
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
        key: the shard.
        checkpoint: sequence number of the last record that the application has processed, or
            ``TRIM_HORIZON``, ``LATEST``, ``AT_TIMESTAMP`` or ``SHARD_END``.
        sub: number of the last user record, if that record is an aggregate. Otherwise 0.
        counter: a running application increases it every few seconds.
        owner: worker that holds the lease, or held it last.
    """

    key: LeaseKey
    checkpoint: str
    sub: int
    counter: int
    owner: str | None


def read_key(text: str) -> LeaseKey:
    """The shard of a lease from its key."""
    parts = text.split(":")
    if len(parts) != _OF_SEVERAL_STREAMS or not parts[2].isdecimal():
        return LeaseKey(shard=text)
    account, stream, created, shard = parts
    return LeaseKey(shard=shard, stream=stream, account=account, created=int(created))


def read_lease(item: Mapping[str, Any]) -> Lease | None:
    """A lease from an item of DynamoDB. ``None`` for an item of another kind: KCL 3 adds some.

    Args:
        item: the attributes as DynamoDB's API returns them, such as ``{"leaseKey": {"S": …}}``.
    """
    if KEY not in item or CHECKPOINT not in item or COUNTER not in item:
        return None
    return Lease(
        key=read_key(item[KEY]["S"]),
        checkpoint=item[CHECKPOINT]["S"],
        sub=int(item.get(SUB, {"N": "0"})["N"]),
        counter=int(item[COUNTER]["N"]),
        owner=item.get(OWNER, {}).get("S"),
    )


def stops_of_leases(leases: Iterable[Lease], table: str, at: datetime | None) -> dict[str, Stop]:
    """Where the application stopped, by shard ID.

    Args:
        leases: the leases of one stream.
        table: name of the table, for errors.
        at: the time at which the application was configured to begin: the leases with
            ``AT_TIMESTAMP`` do not contain it.

    Raises:
        MigrationError: if a lease has another checkpoint, or needs ``at``.
    """
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
    """The leases of each stream, by its name.

    Args:
        leases: all leases of a table.
        table: name of the table, for errors.
        stream: name or ARN of the stream of an application with one stream; otherwise the only
            stream wanted. ``None`` for all.

    Raises:
        MigrationError: if the leases do not name their stream and none is given, or the given one
            is not among them.
    """
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
    name = stream.rpartition("/")[2]
    mine = found.get(stream) or found.get(name)
    if mine is None:
        raise MigrationError(
            f"table {table} has no lease of stream {name}. It has leases of "
            f"{', '.join(sorted(found))}."
        )
    return {stream: mine}
