"""Made-up shards, and what they mean."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from datetime import datetime, timedelta, timezone
from typing import Any

from spark_kinesis._offsets import Progress, ShardOffset
from spark_kinesis._watch.snapshot import MicroBatch, ShardKey, Snapshot, Step, snapshot

NOW = datetime(2026, 11, 23, 12, tzinfo=timezone.utc)
ARN = "arn:aws:kinesis:eu-west-1:123456789012:stream/orders"
DAY = timedelta(days=1)
BATCH = MicroBatch(number=12, planned=NOW - timedelta(seconds=7), is_running=True)


def ago(seconds: float) -> datetime:
    """A time before now."""
    return NOW - timedelta(seconds=seconds)


def name(number: int) -> str:
    """The ID of a shard."""
    return f"shardId-{number:012}"


def key(number: int) -> ShardKey:
    """A shard of the stream."""
    return ARN, name(number)


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


def steps(speed: float, *numbers: int, late: float = 0, count: int = 5) -> tuple[Step, ...]:
    """A micro-batch every 10 s. The last one was just now, and was ``late`` seconds behind."""
    return tuple(
        Step(
            at=ago(10 * age),
            complete={key(number): ago(late + 10 * age * speed) for number in numbers},
        )
        for age in reversed(range(count))
    )


def seen(
    lags: Mapping[int, float | None],
    steps: Sequence[Step] = (),
    *,
    positions: Mapping[int, ShardOffset] | None = None,
    retention: timedelta | None = DAY,
    **more: Any,
) -> Snapshot:
    """The snapshot of shards with these lags in seconds. Other positions may be given."""
    given = {
        "at": NOW,
        "query": "query-1",
        "batch": BATCH,
        "steps": steps,
        "positions": {key(it): (positions or {}).get(it, after(5)) for it in lags},
        "lags": {
            key(it): None if lag is None else timedelta(seconds=lag) for it, lag in lags.items()
        },
        "retention": {} if retention is None else {ARN: retention},
    }
    return snapshot(**{**given, **more})
