"""Hands the positions of a query back to a KCL application: decides its leases."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from datetime import datetime
from typing import TYPE_CHECKING, Any

from spark_kinesis._errors import MigrationError
from spark_kinesis._offsets import Progress, ShardOffset, StreamOffset, stream_name
from spark_kinesis._times import from_iso, instant, parsed
from spark_kinesis.tools.facts.aggregates import parse
from spark_kinesis.tools.facts.losses import SHARD_EXPIRED, StreamTimes, created_again, loss_at
from spark_kinesis.tools.facts.records import Surroundings, surroundings
from spark_kinesis.tools.facts.streams import (
    StreamShard,
    ask_each,
    descendants,
    describe,
    list_shards,
    parents_first,
)

from .leases import NewLease

if TYPE_CHECKING:
    from mypy_boto3_kinesis import KinesisClient

    from .leases import Lease


@dataclass(frozen=True, kw_only=True)
class HandBack:
    """The leases of a stream."""

    arn: str  # ARN of the stream
    prefix: str  # what the keys of its leases begin with; empty for an application with one stream
    leases: list[NewLease]  # a lease for each shard
    losses: list[str]  # what is lost or may be lost, one sentence per shard

    @property
    def begins(self) -> datetime | None:
        """The time at which the application has to be configured to begin, if there is one.

        The leases cannot contain it. If the shards have several times, it is the earliest: then
        some records come again.
        """
        return min((it.begins for it in self.leases if it.begins is not None), default=None)

    def lines(self, name: str) -> Iterator[str]:
        """A line per lease, and what to configure.

        Args:
            name: what to call the stream.
        """
        for it in self.leases:
            yield f"{name} {it.shard.id}: {it.checkpoint} ({it.sub})"
        if self.begins is not None:
            yield f"{name}: configure the application to begin at {instant(self.begins)}"

    @property
    def document(self) -> dict[str, Any]:
        """The stream for machines."""
        return {
            "stream": self.arn,
            "leases": {
                it.shard.id: {"checkpoint": it.checkpoint, "subSequenceNumber": it.sub}
                for it in self.leases
            },
            "initialPosition": self.begins,
            "losses": self.losses,
        }


def plan_hand_back(
    client: KinesisClient, arn: str, offset: StreamOffset, seen: Iterable[Lease], *, is_alone: bool
) -> HandBack:
    """Decide the leases of a stream. Reads two records of each shard, and changes nothing."""
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
    times = StreamTimes.of(found)
    losses = {
        name: loss_at(it, around[name], times) if name in around else SHARD_EXPIRED
        for name, it in shards.items()
    }
    return HandBack(
        arn=arn,
        prefix=lease_prefix(arn, found.created, seen, is_alone=is_alone),
        leases=new_leases(shards, listed, around),
        losses=[f"Stream {arn}, {name}: {it}." for name, it in losses.items() if it is not None],
    )


def _around(
    client: KinesisClient, arn: str, shard: StreamShard, offset: ShardOffset
) -> Surroundings | None:
    """The records around a position that names one."""
    if offset.sequence_number is None:
        return None
    return surroundings(client, arn, shard, offset)


def lease_prefix(arn: str, created: datetime, seen: Iterable[Lease], *, is_alone: bool) -> str:
    """What the keys of the leases of a stream begin with. Empty for one stream.

    The application supplies the creation time in the keys, so those in the table are right.
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


def new_leases(
    offset: Mapping[str, ShardOffset],
    listed: Sequence[StreamShard],
    around: Mapping[str, Surroundings | None],
) -> list[NewLease]:
    """A lease for each listed shard, parents before children."""
    by_id = {shard.id: shard for shard in listed}
    later = descendants(by_id, offset)
    found = []
    for shard in parents_first(by_id):
        position, seen = offset.get(shard.id), around.get(shard.id)
        if position is None:
            word = "TRIM_HORIZON" if shard.id in later else "SHARD_END"
            found.append(NewLease(shard=shard, checkpoint=word))
        elif position.progress is Progress.AFTER:
            number, sub = str(position.sequence_number), _last_row(seen)
            found.append(NewLease(shard=shard, checkpoint=number, sub=sub))
        elif (time := _begins(position, seen)) is not None:
            found.append(NewLease(shard=shard, checkpoint="AT_TIMESTAMP", begins=time))
        else:  # at its oldest record, or at a record that is not there any more
            found.append(NewLease(shard=shard, checkpoint="TRIM_HORIZON"))
    return found


def _last_row(found: Surroundings | None) -> int:
    """The last user record of the last record that was read; 0 if it is no aggregate."""
    packed = None if found is None or found.named is None else parse(found.named.data)
    return 0 if packed is None else max(len(packed.rows) - 1, 0)


def _begins(offset: ShardOffset, found: Surroundings | None) -> datetime | None:
    """When the first unread record arrived, if the query has read none, and begins at no oldest."""
    if offset.progress is Progress.AT:
        return from_iso(str(offset.time))
    if offset.progress is not Progress.FROM or found is None or found.unread.first is None:
        return None
    return found.unread.first.arrived
