"""Moves a query to another position: its next start begins there. The command is ``rewind``."""

from __future__ import annotations

from collections.abc import Callable, Collection
from dataclasses import dataclass
from datetime import datetime
from typing import TYPE_CHECKING, Any

from spark_kinesis._errors import CheckpointError
from spark_kinesis._times import instant, utc_now
from spark_kinesis.tools.changes import WATCH_SECONDS, watched
from spark_kinesis.tools.facts import Checkpoint, chosen_streams, open_files

from .effects import Change, Effect, Move, move
from .log import LogPosition, read_position, require_stopped, rewrite
from .plan import Target

if TYPE_CHECKING:
    from mypy_boto3_kinesis import KinesisClient

__all__ = ["Change", "Effect", "RewindPlan", "Rewound", "Target", "plan_rewind", "rewind"]

_UNPROVEN = (
    "The search in a shard ended before it found a record. Run the command again, or move without "
    "knowing what is skipped or comes again with --allow-unproven."
)
_LOST = (
    "Records are lost. To continue with the records that are left, set --allow-data-loss. Then the "
    "query does not report this loss."
)


@dataclass(frozen=True, kw_only=True)
class Rewound:
    """A move that is done.

    Attributes:
        kept: the folder in the checkpoint with the old files.
        undo: what to do to take the move back.
    """

    kept: str
    undo: str


@dataclass(frozen=True, kw_only=True)
class RewindPlan:
    """What a move would do. Nothing is changed yet.

    Attributes:
        checkpoint: the checkpoint of the query.
        target: the new position.
        position: where the query continues now.
        move: the new position in each shard, and what it skips or repeats.
    """

    checkpoint: Checkpoint
    target: Target
    position: LogPosition
    move: Move

    def refusals(self, *, allow_data_loss: bool, allow_unproven: bool) -> list[str]:
        """Why the move is refused, and what to do. Empty if it is not."""
        found = [_LOST] if self.move.is_lossy and not allow_data_loss else []
        return found + ([_UNPROVEN] if self.move.is_unproven and not allow_unproven else [])

    def document(self, now: datetime) -> dict[str, Any]:
        """The move for the note and for machines."""
        return {
            "at": instant(now),
            "to": self.target.text,
            "source": self.position.source,
            "afterBatch": self.position.batch,
            "droppedBatches": list(self.position.planned),
            "streams": {
                arn: [it.document for it in found] for arn, found in self.move.changes.items()
            },
        }

    def watch(self, seconds: float) -> None:
        """Refuse a query that plans or completes a micro-batch in some seconds.

        Raises:
            CheckpointError: if it does.
        """
        watched(lambda: require_stopped(self.checkpoint, self.position), seconds)

    def apply(self, now: datetime) -> Rewound:
        """Move the query.

        Raises:
            CheckpointError: if the query has run since the plan.
        """
        kept = rewrite(self.checkpoint, self.position, self.move.offset, self.document(now), now)
        place, batch = self.checkpoint.location, self.position.batch
        steps = [f"copy {place}/{kept}/{self.position.path} to {place}/{self.position.path}"]
        if batch is not None:
            steps.append(f"delete {place}/offsets/{batch + 1}")
        steps += [
            f"copy {place}/{kept}/dropped/{it} to {place}/offsets/{it}"
            for it in self.position.planned
        ]
        return Rewound(kept=kept, undo=f"before the query starts, {', then '.join(steps)}")


def plan_rewind(
    checkpoint: Checkpoint,
    to: Target | str,
    *,
    kinesis: KinesisClient,
    stream: str | None = None,
    shards: Collection[str] = (),
    source: str | None = None,
    keep: Collection[str] = (),
    drop_planned: bool = False,
    on_stream: Callable[[], None] = lambda: None,
) -> RewindPlan:
    """Decide the new position of a query, and read the records around it. Changes nothing.

    ``rewind`` has the arguments.
    """
    target = Target.of(to) if isinstance(to, str) else to
    position = read_position(checkpoint, source, keep, drop_planned=drop_planned)
    arns = chosen_streams(position.offset, stream)
    moved = move(kinesis, position.offset, target, arns=arns, shards=shards, on_stream=on_stream)
    return RewindPlan(checkpoint=checkpoint, target=target, position=position, move=moved)


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
) -> Rewound:
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

    Raises:
        CheckpointError: if the move is impossible or refused, or if the query runs.
    """
    opened = Checkpoint(open_files(checkpoint)) if isinstance(checkpoint, str) else checkpoint
    plan = plan_rewind(
        opened,
        to,
        kinesis=kinesis,
        stream=stream,
        shards=shards,
        source=source,
        keep=keep,
        drop_planned=drop_planned,
    )
    refused = plan.refusals(allow_data_loss=allow_data_loss, allow_unproven=allow_unproven)
    if refused:
        lost = [it.loss for it in plan.move.all_changes if it.loss is not None]
        raise CheckpointError(" ".join([*(f"{it}." for it in lost), *refused]))
    plan.watch(watch)
    return plan.apply(utc_now())
