"""Whether a KCL application that continues after a query misses records. No I/O, no clock."""

from __future__ import annotations

from typing import TYPE_CHECKING

from spark_kinesis._times import instant
from spark_kinesis.checkpoint import Progress, ShardOffset
from spark_kinesis.stream.anchor import Anchor, Surroundings

if TYPE_CHECKING:
    from spark_kinesis.stream.times import StreamTimes

SHARD_EXPIRED = "the shard has expired. The query has not read it to its end."


def loss_at(offset: ShardOffset, found: Surroundings | None, times: StreamTimes) -> str | None:
    """Why records may be missing after a position. ``None`` if none is.

    The KCL does not notice it: Kinesis answers a read from an expired position with the oldest
    record. The last record of a shard without traffic may have expired long ago, and the search for
    it may end without an answer. This is no loss if the query has looked for records since then.

    Args:
        offset: the position of the query in a shard that is not finished.
        found: the records around it. ``None`` if it names no record.
        times: the service's time.
    """
    number, read = offset.sequence_number, offset.complete_until
    state = Anchor.NONE if found is None else found.anchor
    if read is None and found is not None and found.named is not None:
        read = found.named.arrived
    if read is None or offset.progress is Progress.FROM:
        if state is Anchor.UNKNOWN:
            return f"no record was found from {number} on before the search ended. Try again."
        if state is Anchor.GONE:
            return f"record {number} is gone. Unread records after it may have expired."
    if read is not None and times.has_expired(read):
        return (
            f"the query has read the shard up to {instant(read)}. Unread records that arrived "
            f"before {instant(times.horizon)} may have expired."
        )
    return None
