"""Where a query would continue, from the log of its checkpoint."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING

from spark_kinesis import CheckpointError

if TYPE_CHECKING:
    from collections.abc import Mapping
    from datetime import datetime

    from spark_kinesis.checkpoint import Checkpoint, SourceOffset, StreamOffset


@dataclass(frozen=True, kw_only=True)
class LogFacts:
    """What the log of a checkpoint says.

    Attributes:
        location: folder of the checkpoint.
        query_id: Spark's ID of the query, or ``None``.
        planned: ID of the newest micro-batch.
        planned_at: when Spark planned it. ``None`` if the log does not say so.
        completed: ID of the newest micro-batch that was completed. ``None`` if none was.
        streams: where the query continues, by the number of the source and the ARN of the stream.
            Several sources may read the same stream.
    """

    location: str
    query_id: str | None
    planned: int
    planned_at: datetime | None
    completed: int | None
    streams: Mapping[tuple[int, str], StreamOffset]

    @property
    def arns(self) -> list[str]:
        """The ARNs of the streams, each once."""
        return list(dict.fromkeys(arn for _, arn in self.streams))

    @property
    def has_several_sources(self) -> bool:
        """Whether several Kinesis sources read streams, so that findings name the source."""
        return len({source for source, _ in self.streams}) > 1


def read_log(checkpoint: Checkpoint) -> LogFacts:
    """Read where the query continues: after its newest completed micro-batch.

    Raises:
        CheckpointError: if the checkpoint has no micro-batch, none with a Kinesis source, or
            cannot be read.
    """
    planned, completed = checkpoint.planned(), checkpoint.completed()
    newest = checkpoint.batch(planned[-1] if planned else 0)
    done = next((it for it in reversed(completed) if it in planned), None)
    sources = checkpoint.kinesis_sources(newest)
    if not sources:
        raise CheckpointError(f"the checkpoint {checkpoint.location} has no Kinesis source")
    streams = {
        (source, arn): offset
        for source in sources
        for arn, offset in _position(checkpoint, done, source).streams.items()
    }
    return LogFacts(
        location=checkpoint.location,
        query_id=checkpoint.query_id,
        planned=newest.number,
        planned_at=newest.planned,
        completed=done,
        streams=streams,
    )


def _position(checkpoint: Checkpoint, done: int | None, source: int) -> SourceOffset:
    if done is not None:
        batch = checkpoint.batch(done)
        if source in batch.offsets:
            return checkpoint.position(batch, source)
    found = checkpoint.initial(source)
    if found is None:
        raise CheckpointError(
            f"the checkpoint {checkpoint.location} has neither a completed micro-batch nor "
            f"sources/{source}/initial-offset.json"
        )
    return found
