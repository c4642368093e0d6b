"""Hands the positions of a query back to a KCL application."""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass
from datetime import datetime
from typing import TYPE_CHECKING

from spark_kinesis._errors import MigrationError
from spark_kinesis._times import from_iso, parsed
from spark_kinesis.checkpoint import Progress, ShardOffset, StreamOffset
from spark_kinesis.checkpoint.offset import stream_name
from spark_kinesis.stream import describe, first_records, list_shards
from spark_kinesis.stream.aggregate import parse
from spark_kinesis.stream.threads import ask_each
from spark_kinesis.stream.times import created_again

from .leaving import NewLease, begins, new_leases

if TYPE_CHECKING:
    from mypy_boto3_kinesis import KinesisClient

    from .leases import Lease


@dataclass(frozen=True, kw_only=True)
class HandBack:
    """The leases of a stream.

    Attributes:
        arn: ARN of the stream.
        prefix: what the keys of its leases begin with; empty for an application with one stream.
        leases: a lease for each shard.
    """

    arn: str
    prefix: str
    leases: list[NewLease]

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
    """Decide the leases of a stream. Reads one record of each shard, and changes nothing.

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
    read = ask_each(lambda it: _around(client, arn, *it), list(shards.items()))
    around = dict(zip(shards, read, strict=True))
    last_rows = {name: it for name, it in around.items() if isinstance(it, int)}
    times = {name: it for name, it in around.items() if isinstance(it, datetime)}
    made = new_leases(shards, list_shards(client, arn), last_rows, times)
    prefix = lease_prefix(arn, found.created, seen, is_alone=is_alone)
    return HandBack(arn=arn, prefix=prefix, leases=made)


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
    client: KinesisClient, arn: str, shard: str, offset: ShardOffset
) -> int | datetime | None:
    """The last row of the last record that was read, or when the first unread record arrived."""
    if offset.progress is Progress.AT:
        return from_iso(str(offset.time))
    if offset.progress is Progress.TRIM_HORIZON:
        return None
    at = ShardOffset(progress=Progress.FROM, sequence_number=offset.sequence_number)
    record = next(iter(first_records(client, arn, shard, at, count=1).records), None)
    if offset.progress is Progress.FROM:
        return None if record is None else record.arrived
    if record is None or record.sequence_number != offset.sequence_number:
        return 0
    packed = parse(record.data)
    return 0 if packed is None else max(len(packed.rows) - 1, 0)
