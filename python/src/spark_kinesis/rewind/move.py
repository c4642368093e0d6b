"""The move of a query: new positions in its streams, and what they skip or repeat."""

from __future__ import annotations

from collections.abc import Callable, Collection
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

from spark_kinesis._errors import CheckpointError
from spark_kinesis._times import instant
from spark_kinesis.checkpoint import SourceOffset, StreamOffset
from spark_kinesis.checkpoint.offset import stream_name
from spark_kinesis.migrate.plan import Times
from spark_kinesis.stream import StreamRecord, describe, list_shards
from spark_kinesis.stream.threads import ask_each

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
        return any(it.effect is Effect.UNPROVEN for of in self.changes.values() for it in of)


def chosen_streams(offset: SourceOffset, stream: str | None) -> list[str]:
    """The ARNs of the streams to move.

    Args:
        offset: the position of the query.
        stream: name or ARN; ``None`` for all.

    Raises:
        CheckpointError: if the query does not read this stream, or reads several with this name.
    """
    arns = sorted(offset.streams)
    if stream is None:
        return arns
    found = [arn for arn in arns if stream in (arn, stream_name(arn))]
    if len(found) != 1:
        names = ", ".join(arns)
        raise CheckpointError(
            f"{stream!r} is not one stream of the query. Its streams are {names}."
        )
    return found


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
        shards: IDs of the shards to move; empty for all. Needs exactly one stream.
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
    if instant(found.created) != offset.created:
        raise CheckpointError(
            f"stream {arn} was created at {instant(found.created)}, and the one in the checkpoint "
            f"at {offset.created}. It was deleted and created again. Start the query with a new "
            "checkpoint."
        )
    listed = {it.id: it for it in list_shards(client, arn)}
    new = rewound(offset, list(listed.values()), target, Times.of(found), shards)
    old = settled(offset).shards
    later = unread(listed, old)
    places = [
        Places(
            shard=name,
            before=old.get(name),
            after=new.shards.get(name),
            is_later=name in later,
            is_listed=name in listed,
        )
        for name in changed(old, new.shards, later)
    ]
    return new, ask_each(lambda it: examine(client, arn, it), places)


def shown(changes: list[Change]) -> list[dict[str, Any]]:
    """What a move does, for the note and for machines."""
    return [
        {
            "shard": it.shard,
            "before": None if it.before is None else it.before.place,
            "after": None if it.after is None else it.after.place,
            "effect": it.effect.value,
            "first": _record(it.first),
            "until": _record(it.until),
        }
        for it in changes
    ]


def _record(record: StreamRecord | None) -> dict[str, str] | None:
    if record is None:
        return None
    return {"sequenceNumber": str(record.sequence_number), "arrived": instant(record.arrived)}
