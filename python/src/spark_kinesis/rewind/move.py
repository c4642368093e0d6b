"""The move of a query: new positions in its streams, and what they skip or repeat."""

from __future__ import annotations

from collections.abc import Callable, Collection
from dataclasses import dataclass, replace
from typing import TYPE_CHECKING, Any

from spark_kinesis._errors import CheckpointError
from spark_kinesis._times import instant, parsed
from spark_kinesis.checkpoint import SourceOffset, StreamOffset
from spark_kinesis.stream import StreamRecord, describe, list_shards
from spark_kinesis.stream.shards import full_id
from spark_kinesis.stream.threads import ask_each
from spark_kinesis.stream.times import StreamTimes, created_again

from .effects import Change, Effect, Places, changed, examine, unread
from .plan import Target, rewound, settled

if TYPE_CHECKING:
    from mypy_boto3_kinesis import KinesisClient


@dataclass(frozen=True, kw_only=True)
class Move:
    """The new position of a query.

    Attributes:
        offset: the position.
        changes: what happens to the shards that move, by the ARN of the stream.
    """

    offset: SourceOffset
    changes: dict[str, list[Change]]

    @property
    def is_unproven(self) -> bool:
        """Whether it is unknown what happens in a shard."""
        return any(it.effect is Effect.UNPROVEN for it in self.all_changes)

    @property
    def is_lossy(self) -> bool:
        """Whether records have expired, or may have, that the query has not read or would read."""
        return any(it.loss is not None for it in self.all_changes)

    @property
    def all_changes(self) -> list[Change]:
        """The changes of all streams."""
        return [it for changes in self.changes.values() for it in changes]


def move(
    client: KinesisClient,
    offset: SourceOffset,
    target: Target,
    *,
    arns: Collection[str],
    shards: Collection[str] = (),
    on_stream: Callable[[], None] = lambda: None,
) -> Move:
    """Plan a move, and read the records around it. Changes nothing.

    Args:
        client: client of Kinesis.
        offset: the old position.
        target: the new one.
        arns: ARNs of the streams to move.
        shards: IDs or numbers of the shards to move; empty for all. Needs exactly one stream.
        on_stream: called after each stream.

    Raises:
        CheckpointError: if the target is impossible, or a stream was created again.
        botocore.exceptions.ClientError: if a call fails.
    """
    if shards and len(arns) != 1:
        raise CheckpointError("the query reads several streams: name that of the shard by --stream")
    streams = dict(offset.streams)
    changes = {}
    for arn in arns:
        streams[arn], changes[arn] = _move(client, arn, streams[arn], target, shards)
        on_stream()
    return Move(offset=SourceOffset(streams=streams), changes=changes)


def _move(
    client: KinesisClient,
    arn: str,
    offset: StreamOffset,
    target: Target,
    shards: Collection[str],
) -> tuple[StreamOffset, list[Change]]:
    found = describe(client, arn)
    again = created_again(arn, found.created, parsed(offset.created))
    if again is not None:
        raise CheckpointError(f"{again} Start the query with a new checkpoint.")
    listed = {it.id: it for it in list_shards(client, arn)}
    times = StreamTimes.of(found)
    chosen = [full_id(listed, it) for it in shards]
    new = rewound(offset, list(listed.values()), target, times, chosen)
    old = settled(offset).shards
    later = unread(listed, old)
    places = [
        Places(
            shard=name,
            before=old.get(name),
            after=new.shards.get(name),
            is_later=name in later,
            listed=listed.get(name),
        )
        for name in changed(old, new.shards, later)
    ]
    changes = ask_each(lambda it: examine(client, arn, it, times), places)
    dated = {it.shard: it.after for it in changes if it.after is not None}
    return replace(new, shards={**new.shards, **dated}), changes


def shown(changes: list[Change]) -> list[dict[str, Any]]:
    """What a move does, for the note and for machines."""
    return [
        {
            "shard": it.shard,
            "before": None if it.before is None else it.before.place,
            "after": None if it.after is None else it.after.place,
            "effect": it.effect.value,
            "loss": it.loss,
            "first": _record(it.first),
            "until": _record(it.until),
        }
        for it in changes
    ]


def _record(record: StreamRecord | None) -> dict[str, str] | None:
    if record is None:
        return None
    return {"sequenceNumber": str(record.sequence_number), "arrived": instant(record.arrived)}
