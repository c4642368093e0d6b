"""Made-up streams: shards with a lineage, and positions in them."""

from __future__ import annotations

from datetime import datetime, timedelta, timezone

from aws_kinesis_agg.aggregator import RecordAggregator

from spark_kinesis._offsets import Progress
from spark_kinesis._times import instant
from spark_kinesis.tools.facts.losses import StreamTimes
from spark_kinesis.tools.facts.streams import StreamShard
from spark_kinesis.tools.handover.positions import Stop

NOW = datetime(2026, 1, 2, 3, 4, 5, tzinfo=timezone.utc)
TIMES = StreamTimes(now=NOW, horizon=NOW - timedelta(hours=24), created=NOW - timedelta(days=30))
WIDTH = 100  # sequence numbers of a shard
LAST = WIDTH - 1  # of these is the number that ends it


def shard_id(number: int) -> str:
    """The ID of a shard."""
    return f"shardId-{number:012d}"


def shard(number: int, *parents: int, is_open: bool = True) -> StreamShard:
    """A shard whose sequence numbers begin at a hundred times its own number."""
    first = number * WIDTH
    return StreamShard(
        id=shard_id(number),
        parents=tuple(shard_id(it) for it in parents),
        first_key=0,
        last_key=1,
        starting=first,
        ending=None if is_open else first + LAST,
    )


def after(number: int, sub: int | None = None) -> Stop:
    """The position after a record."""
    return Stop(progress=Progress.AFTER, sequence_number=number, sub=sub)


def aggregate(count: int) -> bytes:
    """The data of an aggregate with some user records."""
    packed = RecordAggregator()
    for number in range(count):
        packed.add_user_record(f"key-{number % 3}", f"row {number}", str(number))
    data: bytes = packed.clear_and_get().get_contents()[2]
    return data


def at(hours: float) -> Stop:
    """The position at a time before now."""
    return Stop(progress=Progress.AT, time=instant(NOW - timedelta(hours=hours)))


TRIM_HORIZON = Stop(progress=Progress.TRIM_HORIZON)
LATEST = Stop(progress=Progress.AT)  # and AT_TIMESTAMP without a time
SHARD_END = Stop(progress=Progress.FINISHED)
