"""Records that may have expired, so that no position brings them back. No I/O, no clock."""

from __future__ import annotations

from dataclasses import replace
from typing import TYPE_CHECKING

from spark_kinesis._times import instant
from spark_kinesis.checkpoint import Progress, ShardOffset
from spark_kinesis.stream.anchor import Anchor, Surroundings

if TYPE_CHECKING:
    from spark_kinesis.stream.times import StreamTimes

SHARD_EXPIRED = "the shard has expired with its unread records"


def loss_at(
    before: ShardOffset | None,
    after: ShardOffset | None,
    found: Surroundings | None,
    times: StreamTimes,
) -> str | None:
    """What a move loses in a shard, without the final period. ``None`` if it loses nothing.

    At the old position, the query fails if unread records may have expired. At a new position
    without a time up to which the shard was read, it does not: so the move has to report the loss.

    Args:
        before: the old position, if the query had one.
        after: the new position, if it has one.
        found: the records around the new position.
        times: the service's time.
    """
    read = None if before is None else before.complete_as_of
    if read is not None and times.has_expired(read):
        return (
            f"the query has read the shard up to {instant(read)}, and unread records that arrived "
            f"before {instant(times.horizon)} may have expired"
        )
    if after is None or found is None:
        return None
    if found.anchor is Anchor.GONE:
        return f"record {after.sequence_number} is gone, and records after it may have expired"
    if found.named is not None and times.has_expired(found.named.arrived):
        return (
            f"record {after.sequence_number} is older than the retention period, and records after "
            "it may have expired"
        )
    if after.progress is Progress.AT and after.complete_as_of is None:
        return (
            f"records that arrived between {after.time} and {instant(times.horizon)} may have "
            "expired"
        )
    return None


def dated(
    after: ShardOffset | None, found: Surroundings | None, times: StreamTimes
) -> ShardOffset | None:
    """A position at a record that is there. All earlier records are read, or are not to be read."""
    if after is None or found is None or found.named is None:
        return after
    if times.has_expired(found.named.arrived):
        return after
    return replace(after, complete_as_of=found.named.arrived)
