"""Hands the positions of a query back to a KCL application: its leases."""

from __future__ import annotations

import json
from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass, replace
from datetime import datetime
from pathlib import Path
from typing import TYPE_CHECKING, Any

from spark_kinesis._errors import MigrationError
from spark_kinesis._offsets import (
    Progress,
    ShardOffset,
    SourceOffset,
    StreamOffset,
    stream_name,
    stream_names,
)
from spark_kinesis._times import from_iso, instant, parsed
from spark_kinesis.tools.changes import WATCH_SECONDS, Plan, ShardPlan, watch_query
from spark_kinesis.tools.facts.aggregates import parse
from spark_kinesis.tools.facts.checkpoints import Checkpoint, chosen_streams, next_position
from spark_kinesis.tools.facts.losses import SHARD_EXPIRED, StreamTimes, created_again, loss_at
from spark_kinesis.tools.facts.records import Around, around
from spark_kinesis.tools.facts.streams import (
    StreamShard,
    ask_each,
    descendants,
    describe,
    list_shards,
    parents_first,
)

from .leases import Lease, NewLease, require_stopped, scan_leases, write_leases

if TYPE_CHECKING:
    from mypy_boto3_kinesis import KinesisClient


@dataclass(frozen=True, kw_only=True)
class HandOver(Plan):
    """Leases for a KCL application."""

    table: str
    seen: list[Lease]  # the leases that were there
    leases: list[NewLease]  # the new leases
    kept: Path  # the file with the old leases, one item of DynamoDB per line

    @property
    def undo(self) -> str:
        """What to do to take it back."""
        old = {it.key for it in self.seen}
        new = {it.key for it in self.leases}
        added = f", and delete the leases {', '.join(sorted(new - old))}" if new - old else ""
        return (
            f"before the application starts, put each item of {self.kept} into {self.table}{added}"
        )


def hand_back(
    checkpoint: Checkpoint | str,
    table: str,
    *,
    kinesis: KinesisClient,
    dynamodb: Any,
    backup: Path,
    source: str | None = None,
    stream: str | None = None,
    watch: float = WATCH_SECONDS,
    allow_data_loss: bool = False,
    approve: Callable[[HandOver], bool] = lambda _: True,
) -> HandOver:
    """Write the positions of a stopped query to the lease table of a stopped KCL application.

    Args:
        checkpoint: the checkpoint, or its folder or URL.
        table: name of the lease table.
        kinesis: boto3's client of Kinesis, in the region of the streams.
        dynamodb: boto3's client of DynamoDB.
        backup: new file for the leases as they are.
        source: number or name of the source, if several are of Kinesis.
        stream: name or ARN of the only stream; default: all.
        watch: seconds to watch whether the query or the application still runs.
        allow_data_loss: whether to write although unread records have expired, or may have.
        approve: is called with the plan, before anything is changed. If it returns false, nothing
            is.

    Raises:
        MigrationError: if the leases do not fit, if records are lost, or if an application runs.
        CheckpointError: if the checkpoint cannot be read, or if the query runs.
    """
    opened = Checkpoint.of(checkpoint)
    before = opened.state()
    seen = scan_leases(dynamodb, table)
    leases, shards = list[NewLease](), list[ShardPlan]()
    offset = next_position(opened, source)
    for arn in _chosen(offset, stream, seen):
        made, found = stream_leases(kinesis, arn, offset.streams[arn], seen)
        leases += made
        shards += found
    plan = HandOver(
        table=table,
        seen=seen,
        leases=leases,
        shards=shards,
        notes=[
            *(
                f"Micro-batch {it} was planned and not completed. A sink may have written it, and "
                "the application reads its records again."
                for it in opened.unfinished()
                if not opened.is_empty(it)
            ),
            # The leases cannot contain the time. With the earliest, some records come again.
            *(
                f"Configure the application to begin at {instant(begins)}."
                for begins in sorted({it.begins for it in leases if it.begins})[:1]
            ),
        ],
        kept=backup,
    )
    if not plan.is_approved(approve, MigrationError, allow_loss=allow_data_loss):
        return plan
    watch_query(opened, before, watch)
    require_stopped(table, seen, scan_leases(dynamodb, table))
    _keep(backup, seen)
    try:
        write_leases(dynamodb, table, leases, seen)
    except (Exception, KeyboardInterrupt) as error:
        raise MigrationError(
            f"{error or type(error).__name__}. Only a part of the leases may have been written. "
            f"Run the command again with another --backup. Or take it back: {plan.undo}."
        ) from error
    return replace(plan, is_done=True)


def _keep(backup: Path, leases: Iterable[Lease]) -> None:
    try:
        with backup.open("x", encoding="utf-8") as file:
            file.writelines(f"{json.dumps(it.item, sort_keys=True)}\n" for it in leases)
    except OSError as error:
        raise MigrationError(
            f"the old leases cannot be kept in {backup}: {error}. Choose another file with "
            "--backup. Nothing was changed."
        ) from error


def _chosen(offset: SourceOffset, stream: str | None, seen: Sequence[Lease]) -> list[str]:
    arns = chosen_streams(offset, stream)
    if len(arns) > 1 and (not seen or seen[0].stream is None):
        names = ", ".join(stream_names(arns).values())
        raise MigrationError(
            f"the table is for one stream, and the query reads several: {names}. Choose one with "
            "--stream."
        )
    return arns


def stream_leases(
    client: KinesisClient, arn: str, offset: StreamOffset, seen: Sequence[Lease]
) -> tuple[list[NewLease], list[ShardPlan]]:
    """The leases of a stream. Reads two records of each shard, and changes nothing."""
    found = describe(client, arn)
    again = created_again(arn, found.created, parsed(offset.created))
    if again is not None:
        raise MigrationError(again)
    shards = {
        name: it for name, it in offset.shards.items() if it.progress is not Progress.FINISHED
    }
    listed = list_shards(client, arn)
    here = [(it, shards[it.id]) for it in listed if it.id in shards]
    read = ask_each(lambda it: _around(client, arn, *it), here)
    seen_there = {shard.id: it for (shard, _), it in zip(here, read, strict=True)}
    times = StreamTimes.of(found)
    leases = new_leases(shards, listed, seen_there, lease_prefix(arn, found.created, seen))
    words = {it.shard.id: f"{it.checkpoint} ({it.sub})" for it in leases}
    lost = {name: loss_at(shards[name], it, times) for name, it in seen_there.items()}
    gone = shards.keys() - words.keys()
    plans = [
        *(ShardPlan(arn=arn, shard=it, words=words[it], loss=lost.get(it)) for it in words),
        *(ShardPlan(arn=arn, shard=it, words="no lease", loss=SHARD_EXPIRED) for it in gone),
    ]
    return leases, plans


def _around(client: KinesisClient, arn: str, shard: StreamShard, offset: ShardOffset) -> Around:
    """The records around a position that names one."""
    return Around() if offset.sequence_number is None else around(client, arn, shard, offset)


def lease_prefix(arn: str, created: datetime, seen: Sequence[Lease]) -> str:
    """What the keys of the leases of a stream begin with. Empty for one stream.

    The application supplies the creation time in the keys, so those in the table are right.
    """
    if not seen or seen[0].stream is None:
        return ""
    name, account = stream_name(arn), arn.split(":")[4]
    found = sorted({it.prefix for it in seen if (it.account, it.stream) == (account, name)})
    if len(found) > 1:
        raise MigrationError(
            f"the table has leases of stream {name} with several creation times: "
            f"{', '.join(found)}. Delete the leases that the application does not use."
        )
    return found[0] if found else f"{account}:{name}:{int(created.timestamp())}:"


def new_leases(
    offset: Mapping[str, ShardOffset],
    listed: Sequence[StreamShard],
    seen: Mapping[str, Around],
    prefix: str = "",
) -> list[NewLease]:
    """A lease for each listed shard, parents before children."""
    by_id = {shard.id: shard for shard in listed}
    later = descendants(by_id, offset)
    found = []
    for shard in parents_first(by_id):
        position, there = offset.get(shard.id), seen.get(shard.id, Around())
        # The query is at its oldest record, or at one that is not there any more, unless:
        lease = NewLease(shard=shard, prefix=prefix, checkpoint="TRIM_HORIZON")
        if position is None:
            lease = lease if shard.id in later else replace(lease, checkpoint="SHARD_END")
        elif position.progress is Progress.AFTER:
            number, sub = str(position.sequence_number), _last_row(there)
            lease = replace(lease, checkpoint=number, sub=sub)
        elif (time := _begins(position, there)) is not None:
            lease = replace(lease, checkpoint="AT_TIMESTAMP", begins=time)
        found.append(lease)
    return found


def _last_row(found: Around) -> int:
    """The last user record of the last record that was read; 0 if it is no aggregate."""
    packed = None if found.named is None else parse(found.named.data)
    return 0 if packed is None else max(len(packed.rows) - 1, 0)


def _begins(offset: ShardOffset, found: Around) -> datetime | None:
    """When the first unread record arrived, if the query has read none, and begins at no oldest."""
    if offset.progress is Progress.AT:
        return from_iso(str(offset.time))
    if offset.progress is not Progress.FROM or found.first is None:
        return None
    return found.first.arrived
