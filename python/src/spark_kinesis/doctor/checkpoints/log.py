"""Where a query would continue, from the log of its checkpoint."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING

from spark_kinesis import CheckpointError
from spark_kinesis.checkpoint import next_positions

if TYPE_CHECKING:
    from collections.abc import Mapping
    from datetime import datetime

    from spark_kinesis.checkpoint import Checkpoint, StreamOffset


@dataclass(frozen=True, kw_only=True)
class LogFacts:
    """What the log of a checkpoint says.

    Attributes:
        location: folder of the checkpoint.
        query_id: Spark's ID of the query, or ``None``.
        planned: ID of the newest micro-batch.
        planned_at: when Spark planned it. ``None`` if the log does not say so.
        completed: ID of the newest micro-batch that was completed. ``None`` if none was.
        streams: where the query continues, by the source (its number or name) and the ARN of the
            stream. Several sources may read the same stream.
    """

    location: str
    query_id: str | None
    planned: int
    planned_at: datetime | None
    completed: int | None
    streams: Mapping[tuple[str, str], StreamOffset]

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
    positions = next_positions(checkpoint)
    if not positions:
        raise CheckpointError(f"the checkpoint {checkpoint.location} has no Kinesis source")
    return LogFacts(
        location=checkpoint.location,
        query_id=checkpoint.query_id,
        planned=newest.number,
        planned_at=newest.planned,
        completed=completed[-1] if completed else None,
        streams={
            (source, arn): offset
            for source, position in positions.items()
            for arn, offset in position.streams.items()
        },
    )
