"""Moves a query to another position: its next start begins there. The command is ``rewind``."""

from __future__ import annotations

from collections.abc import Callable, Collection
from dataclasses import dataclass, replace
from typing import TYPE_CHECKING, Any

from spark_kinesis._errors import CheckpointError
from spark_kinesis._times import instant, utc_now
from spark_kinesis.tools.changes import WATCH_SECONDS, watched
from spark_kinesis.tools.facts.checkpoints import Checkpoint, chosen_streams
from spark_kinesis.tools.facts.streams import Advance, ignore

from .effects import Change, Effect, Move, move
from .log import LogPosition, read_position, require_stopped, rewrite
from .plan import Target

if TYPE_CHECKING:
    from mypy_boto3_kinesis import KinesisClient

__all__ = ["Change", "Effect", "LogPosition", "Move", "Rewind", "Target", "rewind"]

_UNPROVEN = (
    "The search in a shard ended before it found a record. Run the command again, or move without "
    "knowing what is skipped or comes again with --allow-unproven."
)
_LOST = (
    "Records are lost. To continue with the records that are left, set --allow-data-loss. Then the "
    "query does not report this loss."
)


@dataclass(frozen=True, kw_only=True)
class Rewind:
    """A move of a query.

    Attributes:
        kept: the folder in the checkpoint with the old files. ``None`` if nothing was changed.
    """

    checkpoint: Checkpoint  # the checkpoint of the query
    target: Target  # the new position
    position: LogPosition  # where the query would have continued
    move: Move  # the new position in each shard, and what it skips or repeats
    refusals: list[str]  # why it is refused, and what to do
    kept: str | None = None

    @property
    def undo(self) -> str:
        """What to do to take the move back."""
        place, batch = self.checkpoint.location, self.position.batch
        kept = f"{place}/{self.kept}"
        steps = [f"copy {kept}/{self.position.path} to {place}/{self.position.path}"]
        if batch is not None:
            steps.append(f"delete {place}/offsets/{batch + 1}")
        dropped = self.position.planned
        steps += [f"copy {kept}/dropped/{it} to {place}/offsets/{it}" for it in dropped]
        return f"before the query starts, {', then '.join(steps)}"

    @property
    def document(self) -> dict[str, Any]:
        """The move for the note and for machines."""
        streams = self.move.changes.items()
        return {
            "at": instant(utc_now()),
            "to": self.target.text,
            "source": self.position.source,
            "afterBatch": self.position.batch,
            "droppedBatches": list(self.position.planned),
            "streams": {arn: [it.document for it in found] for arn, found in streams},
        }


def rewind(
    checkpoint: Checkpoint | str,
    to: Target | str,
    *,
    kinesis: KinesisClient,
    stream: str | None = None,
    shards: Collection[str] = (),
    source: str | None = None,
    keep: Collection[str] = (),
    drop_planned: bool = False,
    allow_data_loss: bool = False,
    allow_unproven: bool = False,
    watch: float = WATCH_SECONDS,
    approve: Callable[[Rewind], bool] = lambda _: True,
    advance: Advance = ignore,
) -> Rewind:
    """Move a stopped query to another position: its next start continues there.

    Args:
        checkpoint: the checkpoint, or its folder or URL.
        to: a time, ``10m`` for a time ago, ``trim_horizon``, ``latest``, ``at:NUMBER`` or
            ``after:NUMBER``.
        kinesis: boto3's client of Kinesis, in the region of the streams.
        stream: name or ARN of the only stream to move; default: all.
        shards: IDs or numbers of the shards to move; default: all.
        source: number or name of the source, if several are of Kinesis.
        keep: numbers or names of the other sources, which continue where they are.
        drop_planned: whether to forget micro-batches that are not completed.
        allow_data_loss: whether to move although records have expired.
        allow_unproven: whether to move although what is skipped or comes again is unknown.
        watch: seconds to watch whether the query still runs.
        approve: is called with the plan, before anything is changed. If it returns false, nothing
            is.
        advance: is called with the number of shards that are examined, and with that of all.

    Raises:
        CheckpointError: if the move is impossible or refused, or if the query runs.
    """
    opened = Checkpoint.of(checkpoint)
    target = Target.of(to) if isinstance(to, str) else to
    position = read_position(opened, source, keep, drop_planned=drop_planned)
    arns = chosen_streams(position.offset, stream)
    moved = move(kinesis, position.offset, target, arns=arns, shards=shards, advance=advance)
    refusals = [_LOST] if moved.is_lossy and not allow_data_loss else []
    refusals += [_UNPROVEN] if moved.is_unproven and not allow_unproven else []
    plan = Rewind(
        checkpoint=opened, target=target, position=position, move=moved, refusals=refusals
    )
    if not approve(plan):
        return plan
    if refusals:
        lost = [f"{it.loss}." for it in moved.all_changes if it.loss is not None]
        raise CheckpointError(" ".join([*lost, *refusals]))
    watched(lambda: require_stopped(opened, position), watch)
    return replace(plan, kept=rewrite(opened, position, moved.offset, plan.document, utc_now()))
