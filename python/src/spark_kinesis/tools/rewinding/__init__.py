"""Moves a query to another position: its next start begins there. The command is ``rewind``."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass, replace
from typing import TYPE_CHECKING

from spark_kinesis._errors import CheckpointError
from spark_kinesis._offsets import ShardOffset, SourceOffset
from spark_kinesis._times import parsed, utc_now
from spark_kinesis.tools.changes import (
    WATCH_SECONDS,
    Plan,
    ShardPlan,
    read_target,
    watch_query,
)
from spark_kinesis.tools.facts.checkpoints import REWINDS, Checkpoint, chosen_streams
from spark_kinesis.tools.facts.losses import StreamTimes, created_again
from spark_kinesis.tools.facts.streams import describe, list_shards

from .log import LogPosition, read_position, rewrite
from .plan import rewound, shard_plans

if TYPE_CHECKING:
    from mypy_boto3_kinesis import KinesisClient

__all__ = ["LogPosition", "Rewind", "rewind"]


@dataclass(frozen=True, kw_only=True)
class Rewind(Plan):
    """A move of a query."""

    checkpoint: Checkpoint  # the checkpoint of the query
    position: LogPosition  # where the query would have continued
    offset: SourceOffset  # where it continues
    kept: str  # the folder in the checkpoint for the old files

    @property
    def undo(self) -> str:
        """What to do to take the move back."""
        place, batch = self.checkpoint.location, self.position.batch.number
        old = {f"offsets/{it}": f"dropped/{it}" for it in self.position.planned}
        steps = [
            f"copy {place}/{self.kept}/offsets/{batch} to {place}/offsets/{batch}",
            f"delete {place}/offsets/{batch + 1}",
            *(f"copy {place}/{self.kept}/{it} to {place}/{path}" for path, it in old.items()),
        ]
        return f"before the query starts, {', then '.join(steps)}"


def rewind(
    checkpoint: Checkpoint | str,
    to: ShardOffset | str,
    *,
    kinesis: KinesisClient,
    stream: str | None = None,
    source: str | None = None,
    drop_planned: bool = False,
    allow_data_loss: bool = False,
    watch: float = WATCH_SECONDS,
    approve: Callable[[Rewind], bool] = lambda _: True,
) -> Rewind:
    """Move a stopped query to another position: its next start continues there.

    Args:
        checkpoint: the checkpoint, or its folder or URL.
        to: a time, ``10m`` for a time ago, ``trim_horizon`` or ``latest``.
        kinesis: boto3's client of Kinesis, in the region of the streams.
        stream: name or ARN of the only stream to move; default: all.
        source: number or name of the source, if several are of Kinesis.
        drop_planned: whether to forget micro-batches that are not completed.
        allow_data_loss: whether to move although records have expired, or may have.
        watch: seconds to watch whether the query still runs.
        approve: is called with the plan, before anything is changed. If it returns false, nothing
            is. It is not called if no shard moves: then nothing is changed, too.

    Raises:
        CheckpointError: if the move is impossible or refused, or if the query runs.
    """
    opened = Checkpoint.of(checkpoint)
    target = read_target(to) if isinstance(to, str) else to
    position = read_position(opened, source, drop_planned=drop_planned)
    streams, plans = dict(position.offset.streams), list[ShardPlan]()
    for arn in chosen_streams(position.offset, stream):
        found, before = describe(kinesis, arn), streams[arn]
        again = created_again(arn, found.created, parsed(before.created))
        if again is not None:
            raise CheckpointError(f"{again} Start the query with a new checkpoint.")
        listed, times = list_shards(kinesis, arn), StreamTimes.of(found)
        streams[arn] = rewound(before, listed, target, times)
        plans += shard_plans(arn, {it.id: it for it in listed}, before, streams[arn], times)
    is_empty = not plans and not position.planned
    others = ", ".join(position.others)
    plan = Rewind(
        checkpoint=opened,
        position=position,
        offset=SourceOffset(streams=streams),
        shards=plans,
        notes=[f"These other sources stay where they are: {others}"] if others else [],
        kept=f"{REWINDS}/{utc_now():%Y%m%dT%H%M%S.%f}Z",
    )
    if is_empty or not plan.is_approved(approve, CheckpointError, allow_loss=allow_data_loss):
        return plan
    watch_query(opened, position.state, watch)
    rewrite(opened, position, plan.offset, plan.lines, plan.kept)
    return replace(plan, is_done=True)
