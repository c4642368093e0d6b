"""Where a query continues at its next start."""

from __future__ import annotations

from typing import TYPE_CHECKING

from spark_kinesis._errors import CheckpointError

from .offset import stream_name

if TYPE_CHECKING:
    from .log import Checkpoint
    from .offset import SourceOffset


def next_position(checkpoint: Checkpoint, wanted: str | None = None) -> SourceOffset:
    """Where a source continues: after the newest completed micro-batch, or else where it began.

    Args:
        checkpoint: the checkpoint of the query.
        wanted: number or name of the source; default: the only Kinesis source.

    Raises:
        CheckpointError: if there is no such source, several and none was named, or no position.
    """
    planned, completed = checkpoint.planned(), checkpoint.completed()
    if not planned:
        return checkpoint.start(wanted)[1]
    source = checkpoint.source(checkpoint.batch(planned[-1]), wanted)
    if completed:
        batch = checkpoint.batch(completed[-1])
        if source in batch.offsets:
            return checkpoint.position(batch, source)
    found = checkpoint.initial(source)
    if found is None:
        raise CheckpointError(
            f"the checkpoint {checkpoint.location} has no completed micro-batch, and no start of "
            f"source {source}: it is not a checkpoint of a query that reads from Kinesis, or its "
            "query never ran"
        )
    return found


def next_positions(checkpoint: Checkpoint) -> dict[str, SourceOffset]:
    """Where each Kinesis source continues, by its number or name.

    Raises:
        CheckpointError: if there is no micro-batch in the log, or no position of a source.
    """
    planned = checkpoint.planned()
    sources = checkpoint.kinesis_sources(checkpoint.batch(planned[-1] if planned else 0))
    return {it: next_position(checkpoint, it) for it in sources}


def chosen_streams(offset: SourceOffset, stream: str | None) -> list[str]:
    """The ARNs of the streams that a command is for, in order.

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
