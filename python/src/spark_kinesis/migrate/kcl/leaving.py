"""Decides the leases of a KCL application that continues after a query. No I/O, no clock."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from datetime import datetime
from typing import TYPE_CHECKING

from spark_kinesis.checkpoint import Progress, ShardOffset
from spark_kinesis.stream.lineage import descendants, parents_first

if TYPE_CHECKING:
    from spark_kinesis.stream import StreamShard


@dataclass(frozen=True, kw_only=True)
class NewLease:
    """The checkpoint of a shard for a KCL application.

    Attributes:
        shard: the shard.
        checkpoint: sequence number of the last record that the query has read, or
            ``TRIM_HORIZON``, ``AT_TIMESTAMP`` or ``SHARD_END``.
        sub: number of the last user record of that record, from 0.
        begins: with ``AT_TIMESTAMP`` the time at which the query begins in the shard.
    """

    shard: StreamShard
    checkpoint: str
    sub: int = 0
    begins: datetime | None = None


def new_leases(
    offset: Mapping[str, ShardOffset],
    listed: Sequence[StreamShard],
    last_rows: Mapping[str, int],
    times: Mapping[str, datetime],
) -> list[NewLease]:
    """A lease for each listed shard, parents before children.

    Args:
        offset: the position of the query, without finished shards.
        listed: all shards that Kinesis lists.
        last_rows: number of the last user record in the last record that was read, by shard; 0 for
            a record that is not an aggregate.
        times: the arrival time at which the query begins in a shard of which it has read nothing,
            unless it begins at the oldest record, by shard. A shard without one begins at its
            oldest record.
    """
    by_id = {shard.id: shard for shard in listed}
    later = descendants(by_id, offset)
    found = []
    for shard in parents_first(by_id):
        position = offset.get(shard.id)
        if position is None:
            word = "TRIM_HORIZON" if shard.id in later else "SHARD_END"
            found.append(NewLease(shard=shard, checkpoint=word))
        elif position.progress is Progress.AFTER:
            number = str(position.sequence_number)
            sub = last_rows.get(shard.id, 0)
            found.append(NewLease(shard=shard, checkpoint=number, sub=sub))
        elif position.progress is Progress.TRIM_HORIZON:
            found.append(NewLease(shard=shard, checkpoint="TRIM_HORIZON"))
        elif shard.id in times:
            time = times[shard.id]
            found.append(NewLease(shard=shard, checkpoint="AT_TIMESTAMP", begins=time))
        else:  # the query begins at a record that is not there any more
            found.append(NewLease(shard=shard, checkpoint="TRIM_HORIZON"))
    return found


def begins(leases: Sequence[NewLease]) -> datetime | None:
    """The time at which the application has to be configured to begin.

    The leases cannot contain it. If the shards have several times, it is the earliest: then some
    records come again. ``None`` if no shard needs it.
    """
    return min((it.begins for it in leases if it.begins is not None), default=None)
