"""Hands the positions of a query back to a KCL application."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from dataclasses import dataclass
from datetime import datetime
from typing import TYPE_CHECKING

from spark_kinesis._errors import MigrationError
from spark_kinesis._times import from_iso, parsed
from spark_kinesis.checkpoint import Progress, ShardOffset, StreamOffset
from spark_kinesis.checkpoint.offset import stream_name
from spark_kinesis.stream import describe, list_shards
from spark_kinesis.stream.aggregate import parse
from spark_kinesis.stream.anchor import Surroundings, surroundings
from spark_kinesis.stream.threads import ask_each
from spark_kinesis.stream.times import StreamTimes, created_again

from .leaving import NewLease, begins, new_leases
from .proof import SHARD_EXPIRED, loss_at

if TYPE_CHECKING:
    from mypy_boto3_kinesis import KinesisClient

    from spark_kinesis.stream import StreamShard

    from .leases import Lease


@dataclass(frozen=True, kw_only=True)
class HandBack:
    """The leases of a stream.

    Attributes:
        arn: ARN of the stream.
        prefix: what the keys of its leases begin with; empty for an application with one stream.
        leases: a lease for each shard.
        losses: what is lost or may be lost, one sentence per shard.
    """

    arn: str
    prefix: str
    leases: list[NewLease]
    losses: list[str]

    @property
    def begins(self) -> datetime | None:
        """The time at which the application has to be configured to begin, if there is one."""
        return begins(self.leases)


def hand_back(
    client: KinesisClient,
    arn: str,
    offset: StreamOffset,
    seen: Iterable[Lease],
    *,
    is_alone: bool,
) -> HandBack:
    """Decide the leases of a stream. Reads two records of each shard, and changes nothing.

    Args:
        client: client of Kinesis.
        arn: ARN of the stream.
        offset: the position of the query in it.
        seen: the leases that are in the table.
        is_alone: whether the query has one stream. A table with leases decides for itself.

    Raises:
        MigrationError: if the stream was created again, or if the table has leases of several
            streams with its name.
        botocore.exceptions.ClientError: if a call fails.
    """
    found = describe(client, arn)
    again = created_again(arn, found.created, parsed(offset.created))
    if again is not None:
        raise MigrationError(again)
    shards = {
        name: it for name, it in offset.shards.items() if it.progress is not Progress.FINISHED
    }
    listed = list_shards(client, arn)
    by_id = {it.id: it for it in listed}
    here = [(by_id[name], it) for name, it in shards.items() if name in by_id]
    read = ask_each(lambda it: _around(client, arn, *it), here)
    around = {shard.id: it for (shard, _), it in zip(here, read, strict=True)}
    last_rows = {name: _last_row(it) for name, it in around.items()}
    begun = {name: _begin(shards[name], it) for name, it in around.items()}
    times = {name: it for name, it in begun.items() if it is not None}
    made = new_leases(shards, listed, last_rows, times)
    losses = _losses(arn, shards, around, StreamTimes.of(found))
    prefix = lease_prefix(arn, found.created, seen, is_alone=is_alone)
    return HandBack(arn=arn, prefix=prefix, leases=made, losses=losses)


def lease_prefix(arn: str, created: datetime, seen: Iterable[Lease], *, is_alone: bool) -> str:
    """What the keys of the leases of a stream begin with. Empty for one stream.

    The application supplies the creation time in the keys, so those in the table are right.

    Args:
        arn: ARN of the stream.
        created: creation time of the stream, for a stream without leases.
        seen: the leases that are in the table.
        is_alone: whether the query has one stream, for an empty table.

    Raises:
        MigrationError: if the table has leases of the stream with several creation times.
    """
    keys = [lease.key for lease in seen]
    if keys[0].stream is None if keys else is_alone:
        return ""
    name, account = stream_name(arn), arn.split(":")[4]
    found = sorted({it.prefix for it in keys if (it.account, it.stream) == (account, name)})
    if len(found) > 1:
        raise MigrationError(
            f"the table has leases of stream {name} with several creation times: "
            f"{', '.join(it.removesuffix(':') for it in found)}. Delete the leases that the "
            "application does not use."
        )
    return found[0] if found else f"{account}:{name}:{int(created.timestamp())}:"


def _around(
    client: KinesisClient, arn: str, shard: StreamShard, offset: ShardOffset
) -> Surroundings | None:
    """The records around a position that names one."""
    if offset.sequence_number is None:
        return None
    return surroundings(client, arn, shard, offset)


def _last_row(found: Surroundings | None) -> int:
    """The last user record of the last record that was read."""
    packed = None if found is None or found.named is None else parse(found.named.data)
    return 0 if packed is None else max(len(packed.rows) - 1, 0)


def _begin(offset: ShardOffset, found: Surroundings | None) -> datetime | None:
    """When the first unread record arrived, if the query has read none, and begins at no oldest."""
    if offset.progress is Progress.AT:
        return from_iso(str(offset.time))
    if offset.progress is not Progress.FROM or found is None:
        return None
    return next((it.arrived for it in found.unread.records), None)


def _losses(
    arn: str,
    shards: Mapping[str, ShardOffset],
    around: Mapping[str, Surroundings | None],
    times: StreamTimes,
) -> list[str]:
    """What is lost or may be lost, one sentence per shard."""
    found = {
        name: loss_at(it, around[name], times) if name in around else SHARD_EXPIRED
        for name, it in shards.items()
    }
    return [f"Stream {arn}, {name}: {loss}" for name, loss in found.items() if loss is not None]
