"""A stream of a checkpoint, as the log and as Kinesis know it. Makes no calls."""

from __future__ import annotations

from dataclasses import dataclass
from datetime import datetime, timedelta
from typing import TYPE_CHECKING

from spark_kinesis.checkpoint import Progress, ShardOffset, StreamOffset
from spark_kinesis.stream.lineage import ancestors, descendants

if TYPE_CHECKING:
    from collections.abc import Sequence

    from spark_kinesis.stream import Probe, StreamShard, StreamSummary


@dataclass(frozen=True, kw_only=True)
class ShardFact:
    """A shard of the checkpoint.

    Attributes:
        id: ID of the shard.
        offset: how far the query has read it.
        is_listed: whether Kinesis still lists it.
        probe: how far the query is behind. ``None`` if the shard was not probed.
        refusal: why the probe failed, or ``None``.
    """

    id: str
    offset: ShardOffset
    is_listed: bool
    probe: Probe | None = None
    refusal: str | None = None

    def lost_at(self, retention: timedelta) -> datetime | None:
        """When a restart begins to lose records of the shard. ``None`` if unknown, or never."""
        known = self.offset.complete_until
        if known is None and self.probe is not None and self.is_read:
            known = self.probe.arrived
        return None if known is None else known + retention

    @property
    def is_read(self) -> bool:
        """Whether the query has begun to read it, and has not finished."""
        return self.offset.progress in (Progress.AFTER, Progress.FROM)

    @property
    def is_finished(self) -> bool:
        """Whether the query has read it to its end."""
        return self.offset.progress is Progress.FINISHED


@dataclass(frozen=True, kw_only=True)
class StreamFacts:
    """A stream of the checkpoint.

    Attributes:
        summary: what Kinesis says about it.
        offset: how far the query has read it.
        shards: its shards in the checkpoint.
        listed: its shards in Kinesis.
        source: number or name of the source that reads it. ``None`` if the query has only one.
    """

    summary: StreamSummary
    offset: StreamOffset
    shards: Sequence[ShardFact]
    listed: Sequence[StreamShard]
    source: str | None = None

    @property
    def name(self) -> str:
        """Name of the stream, with the source if the query has several."""
        stream = self.summary.name
        return stream if self.source is None else f"{stream} (source {self.source})"

    @property
    def unplanned(self) -> list[str]:
        """Listed shards that the query would never read.

        The query reads a shard if the shard or one of its ancestors is in the checkpoint. It has
        read a shard whose descendants are there.
        """
        by_id, known = {it.id: it for it in self.listed}, set(self.offset.shards)
        planned = known | descendants(by_id, known) | ancestors(by_id, known)
        return [name for name in by_id if name not in planned]
