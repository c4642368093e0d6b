"""What a move does, in words."""

from __future__ import annotations

from typing import TYPE_CHECKING

from spark_kinesis._times import instant

from .effects import Change, Effect

if TYPE_CHECKING:
    from .move import Move

_UNPROVEN = (
    "The search in a shard ended before it found a record. Run the command again, or move without "
    "knowing what is skipped or comes again with --allow-unproven."
)
_LOST = (
    "Records are lost. To continue with the records that are left, set --allow-data-loss. Then the "
    "query does not report this loss."
)


def words(change: Change) -> str:
    """What happens to a shard."""
    if change.loss is None:
        return _rest(change)
    if change.effect is Effect.SKIPPED and change.first is None:
        return f"LOST: {change.loss}"
    return f"LOST: {change.loss}. For the records that are left: {_rest(change)}"


def refusals(move: Move, *, allow_loss: bool, allow_unproven: bool) -> list[str]:
    """Why a move is refused, and what to do. Empty if it is not."""
    found = [_LOST] if move.is_lossy and not allow_loss else []
    return found + ([_UNPROVEN] if move.is_unproven and not allow_unproven else [])


def _rest(change: Change) -> str:
    if change.effect is Effect.NOTHING:
        return "no record is skipped or comes again"
    if change.effect is Effect.UNPROVEN or change.first is None:
        return "unknown: the search ended before it found a record"
    verb = "come again" if change.effect is Effect.AGAIN else "are skipped"
    until = "" if change.until is None else f", until {change.until.sequence_number}"
    first = change.first
    return f"records {verb} from {first.sequence_number} ({instant(first.arrived)}) on{until}"
