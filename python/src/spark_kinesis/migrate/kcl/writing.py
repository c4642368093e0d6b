"""Writes leases to the table of a KCL application that does not run, at a bounded rate."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping, Sequence
from typing import TYPE_CHECKING, Any

from spark_kinesis._errors import MigrationError

from .leases import CHECKPOINT, COUNTER, KEY, OWNER, SUB, Lease

if TYPE_CHECKING:
    from .leaving import NewLease

_PARENTS, _FIRST_KEY, _LAST_KEY = "parentShardId", "startingHashKey", "endingHashKey"
_SWITCHES = "ownerSwitchesSinceCheckpoint"
# What a lease says about an owner and a checkpoint that it no longer has.
_STALE = (
    OWNER,
    "checkpointOwner",
    "pendingCheckpoint",
    "pendingCheckpointSubSequenceNumber",
    "pendingCheckpointState",
)


def require_stopped(table: str, before: Iterable[Lease], after: Iterable[Lease]) -> None:
    """Refuse a table that an application uses. A running one increases its counters.

    Args:
        table: name of the table.
        before: its leases.
        after: its leases some time later.

    Raises:
        MigrationError: names a lease that has changed.
    """
    old = {it.key: it for it in before}
    moving = [it for it in after if old.get(it.key) != it]
    if moving:
        owner = f" Its owner is {moving[0].owner}." if moving[0].owner else ""
        raise MigrationError(
            f"a KCL application is running: in table {table}, the lease of {moving[0].key.shard} "
            f"has changed while the command watched.{owner} Stop the application, and run the "
            "command again."
        )


def write_leases(
    dynamodb: Any,
    table: str,
    leases: Sequence[NewLease],
    seen: Mapping[str, Lease],
    prefix: str,
    *,
    pause: Callable[[], None],
) -> None:
    """Write a lease for each shard.

    Args:
        dynamodb: boto3's client of DynamoDB.
        table: name of the table.
        leases: the new leases.
        seen: the leases that are there, by key.
        prefix: what the keys of this stream begin with; empty for an application with one stream.
        pause: called after each write, which takes one write capacity unit.

    Raises:
        MigrationError: if an application has changed a lease in the meantime. Leases before it are
            written. Also if an item with the key of a lease is not a whole lease.
        botocore.exceptions.ClientError: if a call fails.
    """
    for number, lease in enumerate(leases):
        key = prefix + lease.shard.id
        try:
            old = seen.get(key)
            if old is None:
                dynamodb.put_item(
                    TableName=table,
                    Item=item(lease, prefix),
                    ConditionExpression=f"attribute_not_exists({KEY})",
                    ReturnValuesOnConditionCheckFailure="ALL_OLD",
                )
            else:
                dynamodb.update_item(TableName=table, **update(lease, key, old.counter))
        except dynamodb.exceptions.ConditionalCheckFailedException as error:
            reason, remedy = _conflict(table, key, error.response.get("Item", {}))
            raise MigrationError(
                f"{reason} {number} of {len(leases)} leases are written. {remedy}, and run the "
                "command again."
            ) from error
        pause()


def _conflict(table: str, key: str, there: Mapping[str, Any]) -> tuple[str, str]:
    """Why a lease could not be written, and what to do.

    Args:
        table: name of the table.
        key: key of the lease.
        there: the item with this key that was not there as a lease, if the table returned it.
    """
    missing = [it for it in (CHECKPOINT, COUNTER) if it not in there]
    if there and missing:
        lacks = " and no ".join(missing)
        return (
            f"the item {key} in table {table} is not a whole lease: it has no {lacks}.",
            "Delete the item",
        )
    return (
        f"a KCL application has changed the lease {key} in table {table}.",
        "Stop the application",
    )


def item(lease: NewLease, prefix: str) -> dict[str, Any]:
    """A lease that is not there yet, in the form of the KCL.

    Args:
        lease: the lease.
        prefix: account, name and creation time of the stream with colons, or empty.
    """
    shard = lease.shard
    made: dict[str, Any] = {
        KEY: {"S": prefix + shard.id},
        COUNTER: {"N": "0"},
        _SWITCHES: {"N": "0"},
        CHECKPOINT: {"S": lease.checkpoint},
        SUB: {"N": str(lease.sub)},
        _FIRST_KEY: {"S": str(shard.first_key)},
        _LAST_KEY: {"S": str(shard.last_key)},
    }
    if shard.parents:
        made[_PARENTS] = {"SS": list(shard.parents)}
    if prefix:
        made["streamName"] = {"S": prefix.removesuffix(":")}
        made["shardId"] = {"S": shard.id}
    return made


def update(lease: NewLease, key: str, counter: int) -> dict[str, Any]:
    """The arguments of ``UpdateItem`` for a lease that is there.

    Args:
        lease: the lease.
        key: its key.
        counter: its counter. If it has changed, an application is running.
    """
    return {
        "Key": {KEY: {"S": key}},
        "UpdateExpression": (
            f"SET {CHECKPOINT} = :checkpoint, {SUB} = :sub, {_SWITCHES} = :none, "
            f"{COUNTER} = :next REMOVE {', '.join(_STALE)}"
        ),
        "ConditionExpression": f"{COUNTER} = :seen",
        "ExpressionAttributeValues": {
            ":checkpoint": {"S": lease.checkpoint},
            ":sub": {"N": str(lease.sub)},
            ":none": {"N": "0"},
            ":next": {"N": str(counter + 1)},
            ":seen": {"N": str(counter)},
        },
    }


def create_table(dynamodb: Any, table: str) -> None:
    """Create a lease table that is paid per request, and wait until it is there.

    Raises:
        MigrationError: if there is one.
        botocore.exceptions.ClientError: if a call fails.
    """
    try:
        dynamodb.create_table(
            TableName=table,
            KeySchema=[{"AttributeName": KEY, "KeyType": "HASH"}],
            AttributeDefinitions=[{"AttributeName": KEY, "AttributeType": "S"}],
            BillingMode="PAY_PER_REQUEST",
        )
    except dynamodb.exceptions.ResourceInUseException as error:
        raise MigrationError(
            f"table {table} exists: run the command without --create-table"
        ) from error
    dynamodb.get_waiter("table_exists").wait(TableName=table)
