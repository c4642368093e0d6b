"""What was observed, before any conclusion."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field
from datetime import datetime, timedelta
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from spark_kinesis.tools.facts.offsets import ShardOffset
    from spark_kinesis.tools.facts.records import Probe

ShardKey = tuple[str, str]
"""ARN of the stream, and ID of the shard."""


@dataclass(frozen=True, kw_only=True)
class Reading:
    """A probe, and the position at which it read.

    Attributes:
        at: time of the service at which it read.
        position: where it began to read.
        probe: what it found.
    """

    at: datetime
    position: ShardOffset
    probe: Probe

    @property
    def is_whole(self) -> bool:
        """Whether it returned all records after the position."""
        return not self.probe.behind

    @property
    def found_nothing(self) -> bool:
        """Whether there was no record after the position."""
        return self.is_whole and not self.probe.records


@dataclass(frozen=True, kw_only=True)
class ShardFacts:
    """What is known about a shard.

    Attributes:
        parents: IDs of the shards that it replaced, as far as they are known.
        is_open: whether it accepts records. ``None`` if unknown.
        position: how far the query has processed it. ``None`` if the offset does not contain it.
        backlog: probes at positions of the query, oldest first.
        tip: probes shortly before the newest record, oldest first.
        refused: number of probes that the service refused because a limit was reached.
    """

    parents: tuple[str, ...] = ()
    is_open: bool | None = None
    position: ShardOffset | None
    backlog: tuple[Reading, ...] = ()
    tip: tuple[Reading, ...] = ()
    refused: int = 0


@dataclass(frozen=True, kw_only=True)
class Step:
    """A point of the query's way: what it had processed, or begun to process, at a time.

    Attributes:
        at: when the micro-batch with this end was planned.
        complete: up to which time of arrival it read each shard completely.
    """

    at: datetime
    complete: Mapping[ShardKey, datetime]


@dataclass(frozen=True, kw_only=True)
class BatchFacts:
    """The latest micro-batch.

    Attributes:
        number: its ID.
        planned: when Spark planned it.
        is_running: whether it is not completed.
        phases: milliseconds that each of Spark's phases took. Empty if unknown.
        rows: number of rows that it read. ``None`` if unknown.
        took: time from planning to completion. ``None`` if unknown, or if it is running.
    """

    number: int
    planned: datetime | None
    is_running: bool
    phases: Mapping[str, int] = field(default_factory=dict)
    rows: int | None = None
    took: timedelta | None = None


@dataclass(frozen=True, kw_only=True)
class Counters:
    """Totals since the run began. ``docs/reference/metrics.md`` says what they mean."""

    throttled_requests: int
    retried_requests: int
    reread_ranges: int
    lost_ranges: int
    buffered_bytes: int
    spilled_bytes: int
    fetched_records: int


@dataclass(frozen=True, kw_only=True)
class Rates:
    """Rates of a whole source that were measured, not estimated.

    Attributes:
        processed: rows per second that the query has processed lately. ``None`` if unknown.
    """

    processed: float | None = None


@dataclass(frozen=True, kw_only=True)
class Cost:
    """What the view used of the quota of the busiest shard, from 0 to 1.

    Attributes:
        calls: part of the five reads per second.
        bytes: part of the 2 MiB per second.
    """

    calls: float = 0.0
    bytes: float = 0.0


@dataclass(frozen=True, kw_only=True)
class Facts:
    """Everything that one look has found.

    Attributes:
        at: time of the service.
        query: name or ID of the query. ``None`` if unknown.
        place: where the facts come from, such as the folder of the checkpoint.
        batch: the latest micro-batch. ``None`` before the first.
        steps: the latest steps of the query, oldest first.
        shards: what is known about each shard.
        retention: how long each stream keeps records, by ARN. A stream may be absent.
        counters: the counters of the source. ``None`` if they cannot be seen.
        rates: rates of the whole source.
        cost: what the view has used.
        notes: what went wrong during the look, in sentences.
        status: what Spark says that the query is doing. ``None`` if it was not asked.
    """

    at: datetime
    query: str | None
    place: str
    batch: BatchFacts | None
    steps: tuple[Step, ...]
    shards: Mapping[ShardKey, ShardFacts]
    retention: Mapping[str, timedelta]
    counters: Counters | None = None
    rates: Rates = field(default_factory=Rates)
    cost: Cost = field(default_factory=Cost)
    notes: tuple[str, ...] = ()
    status: str | None = None
