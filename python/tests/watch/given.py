"""Facts about made-up shards."""

from __future__ import annotations

from collections.abc import Sequence
from datetime import datetime, timedelta, timezone
from typing import Any

from spark_kinesis._offsets import Progress, ShardOffset
from spark_kinesis._watch.forecast import Step
from spark_kinesis._watch.snapshot import Facts, MicroBatch, ShardFacts, ShardKey
from spark_kinesis.tools.facts.lags import Probe

NOW = datetime(2026, 11, 23, 12, tzinfo=timezone.utc)
ARN = "arn:aws:kinesis:eu-west-1:123456789012:stream/orders"
DAY = timedelta(days=1)


def ago(seconds: float) -> datetime:
    """A time before now."""
    return NOW - timedelta(seconds=seconds)


def name(number: int) -> str:
    """The ID of a shard."""
    return f"shardId-{number:012}"


def key(number: int) -> ShardKey:
    """A shard of the stream."""
    return ARN, name(number)


def family(*parents: int, is_open: bool = True) -> dict[str, Any]:
    """What the service says about a shard."""
    return {"parents": tuple(map(name, parents)), "is_open": is_open}


def after(
    sequence_number: int, complete_as_of: datetime | None = None, *waits_for: int
) -> ShardOffset:
    """A position after a record."""
    return ShardOffset(
        progress=Progress.AFTER,
        sequence_number=sequence_number,
        complete_as_of=complete_as_of,
        waits_for=tuple(map(name, waits_for)),
    )


def reading(
    position: ShardOffset,
    *,
    at: datetime = NOW,
    arrived: tuple[float, ...] = (),
    behind: float = 0,
) -> Probe:
    """A probe that found records, which arrived some seconds ago."""
    times = [ago(it) for it in arrived]
    return Probe(
        at=at,
        position=position,
        behind=timedelta(seconds=behind),
        arrived=times[0] if times else None,
        sequence_number=7 if times else None,
        last_arrived=times[-1] if times else None,
        records=len(times),
        size=10 * len(times),
        is_end=False,
    )


def steps(speed: float, *numbers: int, late: float = 0, count: int = 5) -> tuple[Step, ...]:
    """A micro-batch every 10 s. The last one was just now, and was ``late`` seconds behind."""
    return tuple(
        Step(
            at=ago(10 * age),
            number=count - age,
            complete={key(number): ago(late + 10 * age * speed) for number in numbers},
        )
        for age in reversed(range(count))
    )


def facts(
    shards: dict[int, ShardFacts],
    *,
    steps: Sequence[Step] = (),
    batch: MicroBatch | None = None,
    retention: timedelta | None = DAY,
    notes: tuple[str, ...] = (),
) -> Facts:
    """What a look has found."""
    return Facts(
        at=NOW,
        query="query-1",
        place="/checkpoints/orders",
        batch=batch,
        steps=steps,
        shards={key(number): it for number, it in shards.items()},
        retention={} if retention is None else {ARN: retention},
        notes=notes,
    )
